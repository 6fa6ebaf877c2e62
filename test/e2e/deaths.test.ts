import { afterAll, describe, expect, it } from 'vitest';
import {
  GenerateRequest,
  type GenerateResponse,
  OrchestratorServiceService as Service,
} from '../../gen/stageplane/v1/orchestrator_service.js';
import {
  LoadProgress_Phase,
  type Run,
  RunOutcome,
  RunPhase,
  StageFaultReason,
  StagePhase,
  type StageStatus,
} from '../../gen/stageplane/v1/run.js';
import { nodesReady } from '../../src/demo/wait-for.js';
import { streamCall } from '../../src/grpc/client.js';
import { isAlive } from '../../src/process/descendants.js';
import { getRun, watchUntil } from '../support/running-orchestrator.js';
import { Cluster } from './cluster.js';
import { storyModel, storyPrompt } from './story.js';

const { RUN_PHASE_RUNNING, RUN_PHASE_DONE } = RunPhase;

const cluster = await Cluster.start(['alpha', 'beta', 'gamma'], { tiny: storyModel, finished: afterAll });
afterAll(async () => expect(await cluster.end()).toEqual([]));
const { client } = cluster;

let runs = 0;
function create(settings: Parameters<Cluster['create']>[2] = {}): Promise<bigint> {
  runs += 1;
  return cluster.create(`run ${runs}`, 3, { contextLength: storyModel.contextLength, ...settings });
}

async function serving(settings: Parameters<Cluster['create']>[2] = {}): Promise<bigint> {
  const runId = await create(settings);
  await watchUntil(client, runId, RUN_PHASE_RUNNING);
  return runId;
}

function generate(runId: bigint, prompt = storyPrompt) {
  const runtime = { prompt: { source: { $case: 'inline', value: prompt } } } as const;
  return streamCall(client, Service.generate, GenerateRequest.fromPartial({ runId, runtime }));
}

async function endOf(responses: AsyncIterable<GenerateResponse>): Promise<GenerateResponse['end']> {
  let end: GenerateResponse['end'];
  for await (const response of responses) end = response.end;
  return end;
}

/** The run's node of a stage, and its newest worker. */
async function victimOf(runId: bigint, stageIndex: number) {
  const { stages } = await getRun(client, runId);
  const name = stages[stageIndex]!.nodeName;
  return { name, pid: cluster.workersOf(name).at(-1)! };
}

/** Resolves when a run is as wanted. */
async function runIs(runId: bigint, isSo: (run: Run) => boolean): Promise<void> {
  while (!isSo(await getRun(client, runId))) await new Promise((resolve) => setTimeout(resolve, 50));
}

const isLoading = ({ phase }: StageStatus) => phase === StagePhase.STAGE_PHASE_LOADING;
const waitsForEdges = ({ progress }: StageStatus) => progress?.phase === LoadProgress_Phase.PHASE_WAITING_EDGES;

async function expectFaulted(runId: bigint, cause: object): Promise<void> {
  await watchUntil(client, runId, RUN_PHASE_DONE);
  expect(await getRun(client, runId)).toMatchObject({ outcome: RunOutcome.RUN_OUTCOME_FAULTED, cause });
  // A stage is STOPPED when its process is reaped; an endpoint is only told to end by then.
  while (cluster.endpoints().length > 0) await new Promise((resolve) => setTimeout(resolve, 20));
  for (const name of ['alpha', 'beta', 'gamma']) expect(cluster.workersOf(name).filter(isAlive)).toEqual([]);
}

describe.each([0, 1, 2])('stage %i that dies', (stageIndex) => {
  const died = { stageIndex, component: 'worker', reason: StageFaultReason.STAGE_FAULT_REASON_WORKER_EXITED };

  it('while it loads is the cause', async () => {
    cluster.closeGate();
    const runId = await create();
    await runIs(runId, ({ stages }) => isLoading(stages[stageIndex]!));
    process.kill((await victimOf(runId, stageIndex)).pid, 'SIGKILL');
    await expectFaulted(runId, died);
  });

  it('while it waits for a neighbour that still loads is the cause', async () => {
    cluster.closeGate();
    const runId = await create();
    await runIs(runId, ({ stages }) => stages.every(isLoading));
    const { name, pid } = await victimOf(runId, stageIndex);
    cluster.openGate(name);
    await runIs(runId, ({ stages }) => waitsForEdges(stages[stageIndex]!));
    process.kill(pid, 'SIGKILL');
    await expectFaulted(runId, died);
  });

  it('when it is ready and nobody asks is the cause', async () => {
    cluster.openGate();
    const runId = await serving();
    process.kill((await victimOf(runId, stageIndex)).pid, 'SIGKILL');
    await expectFaulted(runId, died);
  });

  it('in the middle of a prompt is the cause, and who asked is told', async () => {
    cluster.openGate();
    const runId = await serving({ microBatch: 1 });
    const end = endOf(generate(runId, 'x'.repeat(30_000)));
    await runIs(runId, ({ textLoad }) => textLoad?.runningAnswers === 1);
    process.kill((await victimOf(runId, stageIndex)).pid, 'SIGKILL');
    expect(await end).toMatchObject({ $case: 'fault', value: died });
    await expectFaulted(runId, died);
  });

  it('in the middle of an answer is the cause, and who asked is told', async () => {
    cluster.openGate();
    const runId = await serving();
    const responses = generate(runId);
    await responses.next();
    process.kill((await victimOf(runId, stageIndex)).pid, 'SIGKILL');
    expect(await endOf(responses)).toMatchObject({ $case: 'fault', value: died });
    await expectFaulted(runId, died);
  });
});

describe('in the middle of an answer', () => {
  it('a token endpoint that is killed ends the run, and who asked is told', async () => {
    cluster.openGate();
    const runId = await serving();
    const responses = generate(runId);
    await responses.next();
    for (const pid of cluster.endpoints()) process.kill(pid, 'SIGKILL');
    const cause = {
      reason: StageFaultReason.STAGE_FAULT_REASON_TOKEN_ENDPOINT_LOST,
      component: 'token-endpoint',
      message: expect.stringContaining('the token endpoint ended with SIGKILL: start the run again'),
    };
    expect(await endOf(responses)).toMatchObject({ $case: 'fault', value: cause });
    await expectFaulted(runId, cause);
  });

  it.each([0, 1, 2])(
    'an agent that is killed is the cause with its stage %i, and who asked is told',
    async (stageIndex) => {
      cluster.openGate();
      const runId = await serving();
      const { name } = await victimOf(runId, stageIndex);
      const responses = generate(runId);
      await responses.next();
      await cluster.kill(name, 'SIGKILL');
      const cause = { stageIndex, nodeName: name, reason: StageFaultReason.STAGE_FAULT_REASON_PEER_LOST };
      expect(await endOf(responses)).toMatchObject({ $case: 'fault', value: cause });
      cluster.startAgent(name);
      await expectFaulted(runId, cause);
      await nodesReady(client, 3);
    },
  );
});
