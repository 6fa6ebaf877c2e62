import { expect, test } from 'vitest';
import {
  OrchestratorServiceClient,
  OrchestratorServiceService as Service,
} from '../../gen/stageplane/v1/orchestrator_service.js';
import { RuntimeConfig } from '../../gen/stageplane/v1/plan.js';
import { RunMode } from '../../gen/stageplane/v1/planner.js';
import { RunPhase, StageFaultReason } from '../../gen/stageplane/v1/run.js';
import { runId as runIdOf } from '../../src/core/ids.js';
import { streamCall, unaryCall } from '../../src/grpc/client.js';
import { accessTable } from '../../src/orchestrator/access-table.js';
import { sampleFacts } from '../core/machine/samples.js';
import { readyEndpoints } from '../support/ready-endpoints.mjs';
import { watchUntil } from '../support/running-orchestrator.js';
import { ScriptedAgent } from '../support/scripted-agent.js';
import { credentialsOf, runSecured } from '../support/secured-orchestrator.js';

const SECRET = 'the combination is 4711';

/** A run whose own prompt was refused by a template that quotes it; it began again, and was refused anew. */
async function refusedRun() {
  let post: Parameters<typeof readyEndpoints>[0] = () => {};
  const orchestrator = await runSecured({
    tokenEndpoints: (given) => {
      post = given;
      return readyEndpoints(given);
    },
  });
  const agent = (await orchestrator.enrol('agent', 'alpha')).credentials;
  const node = await ScriptedAgent.join(orchestrator.address, 'alpha', { instanceId: 'alpha' }, credentialsOf(agent));
  const launcher = orchestrator.call(
    OrchestratorServiceClient,
    (await orchestrator.enrol('launcher', 'laptop')).credentials,
  );
  const runtime = RuntimeConfig.fromPartial({ prompt: { source: { $case: 'inline', value: SECRET } } });
  const plan = { model: sampleFacts.ggufSource, facts: sampleFacts, stageCount: 1 };
  const { outcome } = await unaryCall(launcher, Service.createRun, {
    requestId: 'r',
    plan: { ...plan, runtime, mode: RunMode.RUN_MODE_ONE_SHOT },
  });
  if (outcome?.$case !== 'run') throw new Error(outcome?.value.message);
  const { runId } = outcome.value;
  await node.becomeReady();
  await watchUntil(launcher, runId, RunPhase.RUN_PHASE_RUNNING);
  const reason = StageFaultReason.STAGE_FAULT_REASON_PROMPT_REFUSED;
  const fault = { reason, message: `it does not take "${SECRET}"`, logTail: [SECRET] };
  return {
    orchestrator,
    node,
    launcher,
    runId,
    refuse: () => post({ kind: 'answer-failed', runId: runIdOf(runId), generation: 1, fault }),
  };
}

async function collect<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of stream) all.push(item);
  return all;
}

async function firstOf<T>(stream: AsyncIterable<T>): Promise<T | undefined> {
  for await (const item of stream) return item;
  return undefined;
}

/** A watch of all runs does not end, but says when it has told everything. */
async function eventsUntilNow(client: OrchestratorServiceClient): Promise<unknown[]> {
  const seen: unknown[] = [];
  for await (const { update } of streamCall(client, Service.watchEvents, { from: undefined })) {
    if (update?.$case === 'progress') return seen;
    seen.push(update);
  }
  return seen;
}

/** Every method of a viewer that answers with something of ours, asked of a run. */
function askAll(client: OrchestratorServiceClient, runId: bigint): Record<string, () => Promise<unknown>> {
  const page = { pageSize: 0, pageToken: '' };
  return {
    GetRun: () => unaryCall(client, Service.getRun, { runId }),
    ListRuns: () => unaryCall(client, Service.listRuns, { ...page, activeOnly: false }),
    WatchRun: () => collect(streamCall(client, Service.watchRun, { runId, afterRevision: 0n })),
    WatchEvents: () => eventsUntilNow(client),
    GetStageLog: () => unaryCall(client, Service.getStageLog, { runId, stageIndex: 0, maxLines: 100 }),
    ListNodes: () => unaryCall(client, Service.listNodes, page),
    GetNode: () => unaryCall(client, Service.getNode, { nodeId: 2n }),
    WatchNodes: () => firstOf(streamCall(client, Service.watchNodes, {})),
  };
}

const textOf = (answer: unknown) =>
  JSON.stringify(answer, (_, value) => (typeof value === 'bigint' ? String(value) : value));

test('a viewer reads everything of a run but what its prompt says, wherever that could be; a launcher reads it', async () => {
  const { orchestrator, node, launcher, runId, refuse } = await refusedRun();
  const { credentials } = await orchestrator.enrol('viewer', 'vera');
  const viewer = orchestrator.call(OrchestratorServiceClient, credentials);
  // One watch is open while it happens, the other reads what was stored.
  const watched = collect(streamCall(viewer, Service.watchRun, { runId, afterRevision: 0n }));
  refuse();
  await node.confirmStop();
  await watchUntil(launcher, runId, RunPhase.RUN_PHASE_DONE);

  const viewers = askAll(viewer, runId);
  const open = Object.entries(accessTable).filter(([path, roles]) => roles.includes('viewer') && /Orch/.test(path));
  expect(Object.keys(viewers).sort()).toEqual(open.map(([path]) => path.split('/')[2]).sort());
  for (const [method, ask] of Object.entries(viewers)) {
    expect([method, textOf(await ask())]).toEqual([method, expect.not.stringContaining('4711')]);
  }
  expect(textOf(await watched)).not.toContain('4711');

  const { run } = await unaryCall(viewer, Service.getRun, { runId });
  expect(run).toMatchObject({
    plan: { runtime: { sampling: {} }, stages: [{ nodeId: 2n }] },
    cause: { reason: StageFaultReason.STAGE_FAULT_REASON_PROMPT_REFUSED, component: 'token-endpoint' },
  });
  expect(run?.cause?.message).toContain('is told to launchers');
  const launchers = askAll(launcher, runId);
  for (const method of ['GetRun', 'ListRuns', 'WatchRun', 'WatchEvents']) {
    expect(textOf(await launchers[method]!())).toContain('4711');
  }
});
