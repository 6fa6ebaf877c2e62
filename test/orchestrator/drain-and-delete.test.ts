import { status } from '@grpc/grpc-js';
import { expect, it } from 'vitest';
import {
  type DrainNodeResponse,
  OrchestratorServiceService as Service,
} from '../../gen/stageplane/v1/orchestrator_service.js';
import { RestartMode, RunOutcome, RunPhase, StageFaultReason } from '../../gen/stageplane/v1/run.js';
import { streamCall, unaryCall } from '../../src/grpc/client.js';
import { sampleFacts, samplePlan } from '../core/machine/samples.js';
import { getRun, runOrchestrator, watchUntil } from '../support/running-orchestrator.js';
import { ScriptedAgent } from '../support/scripted-agent.js';

const { RUN_PHASE_RUNNING, RUN_PHASE_DONE } = RunPhase;
const anywhere = { model: sampleFacts.ggufSource, facts: sampleFacts, mode: 0, stageCount: 1 };
const restart = { mode: RestartMode.RESTART_MODE_ON_FAULT, maxAttempts: 1, backoffMillis: 0n };

/** All that a drain says, until it ends. */
async function collect(responses: AsyncIterable<DrainNodeResponse>): Promise<DrainNodeResponse[]> {
  const all: DrainNodeResponse[] = [];
  for await (const response of responses) all.push(response);
  return all;
}

it('a drained node hands its run to another, says what it waits for, and takes no new stage (I14)', async () => {
  const { client, address } = await runOrchestrator();
  const alpha = await ScriptedAgent.join(address, 'alpha');
  const beta = await ScriptedAgent.join(address, 'beta');
  await unaryCall(client, Service.createRun, { requestId: 'r', plan: anywhere, restart });
  await alpha.becomeReady();
  await watchUntil(client, 1n, RUN_PHASE_RUNNING);

  const drained = collect(streamCall(client, Service.drainNode, { nodeId: 2n, deadlineMillis: 600_000n }));
  await alpha.confirmStop();
  await beta.becomeReady();
  const told = await drained;
  expect(told[0]).toMatchObject({
    stagesLeft: 1,
    node: { name: 'alpha', drain: { runs: [{ runId: 1n, stages: 1, waits: 'moves once its answers have ended' }] } },
  });
  expect(told.flatMap(({ node }) => node?.drain?.runs ?? [])).toContainEqual({
    runId: 1n,
    stages: 1,
    waits: 'is being stopped',
  });
  expect(told.at(-1)).toMatchObject({ stagesLeft: 0, node: { drain: { runs: [] } } });
  expect(await getRun(client, 1n)).toMatchObject({
    generation: 2,
    restarts: 0,
    stages: [{ nodeName: 'beta' }],
    lastCause: { reason: StageFaultReason.STAGE_FAULT_REASON_NODE_DRAINED, nodeName: 'alpha' },
  });
  const { outcome } = await unaryCall(client, Service.createRun, { requestId: 's', plan: samplePlan([2n]) });
  expect(outcome).toMatchObject({
    $case: 'rejection',
    value: { message: /node "alpha" is drained: .*uncordon alpha/ },
  });
});

it('a drain without time ends what cannot move, and outlives whoever asked for it', async () => {
  const { client, address } = await runOrchestrator();
  const alpha = await ScriptedAgent.join(address, 'alpha');
  await unaryCall(client, Service.createRun, { requestId: 'r', plan: samplePlan([2n]) });
  await alpha.becomeReady();
  await watchUntil(client, 1n, RUN_PHASE_RUNNING);

  const leaving = new AbortController();
  const { signal } = leaving;
  const asked = collect(streamCall(client, Service.drainNode, { nodeId: 2n, deadlineMillis: 3_600_000n }, { signal }));
  const isDraining = async () => (await unaryCall(client, Service.getNode, { nodeId: 2n })).node?.drain;
  await expect.poll(isDraining).toMatchObject({ runs: [{ waits: /serves until the deadline/ }] });
  leaving.abort();
  await expect(asked).rejects.toMatchObject({ code: status.CANCELLED });
  expect(await isDraining()).toBeDefined();

  const again = collect(streamCall(client, Service.drainNode, { nodeId: 2n, deadlineMillis: 0n }));
  await alpha.confirmStop();
  expect((await again).at(-1)).toMatchObject({ stagesLeft: 0 });
  await watchUntil(client, 1n, RUN_PHASE_DONE);
  expect(await getRun(client, 1n)).toMatchObject({
    outcome: RunOutcome.RUN_OUTCOME_FAULTED,
    cause: { reason: StageFaultReason.STAGE_FAULT_REASON_NODE_DRAINED, component: 'orchestrator', nodeName: 'alpha' },
  });
});

it('a drain ends when the node is uncordoned', async () => {
  const { client, address } = await runOrchestrator();
  const alpha = await ScriptedAgent.join(address, 'alpha');
  await unaryCall(client, Service.createRun, { requestId: 'r', plan: samplePlan([2n]) });
  await alpha.becomeReady();
  const stream = streamCall(client, Service.drainNode, { nodeId: 2n, deadlineMillis: 3_600_000n });
  const told: DrainNodeResponse[] = [];
  for await (const response of stream) {
    if (told.push(response) === 1) await unaryCall(client, Service.uncordonNode, { nodeId: 2n });
  }
  expect(told.at(-1)).toMatchObject({ stagesLeft: 1, node: { drain: undefined } });
});

it('a node that is gone is deleted with its stages, whoever watches learns it, and its agent is a new node', async () => {
  const { client, address } = await runOrchestrator();
  const alpha = await ScriptedAgent.join(address, 'alpha');
  await unaryCall(client, Service.createRun, { requestId: 'r', plan: samplePlan([2n]) });
  await alpha.becomeReady();
  await watchUntil(client, 1n, RUN_PHASE_RUNNING);
  await expect(unaryCall(client, Service.deleteNode, { nodeId: 2n })).rejects.toMatchObject({
    code: status.FAILED_PRECONDITION,
    reason: 'NODE_CONNECTED',
    message: 'node "alpha" is connected: drain it, stop its agent, then delete it',
  });

  await alpha.vanish();
  const watch = streamCall(client, Service.watchNodes, {})[Symbol.asyncIterator]();
  const next = async () => (await watch.next()).value?.update;
  // The first progress closes what was known when the watch began.
  while ((await next())?.$case !== 'progress');
  const remove = () => unaryCall(client, Service.deleteNode, { nodeId: 2n });
  await expect
    .poll(() =>
      remove().then(
        () => 'deleted',
        ({ reason }) => reason,
      ),
    )
    .toBe('deleted');
  let update = await next();
  while (update?.$case !== 'removedNodeId') update = await next();
  expect(update.value).toBe(2n);
  expect(await getRun(client, 1n)).toMatchObject({
    phase: RUN_PHASE_DONE,
    outcome: RunOutcome.RUN_OUTCOME_FAULTED,
    cause: { reason: StageFaultReason.STAGE_FAULT_REASON_NODE_LOST, message: 'node "alpha" was deleted' },
  });
  await expect(unaryCall(client, Service.getNode, { nodeId: 2n })).rejects.toMatchObject({ code: status.NOT_FOUND });
  await ScriptedAgent.join(address, 'alpha');
  expect((await unaryCall(client, Service.listNodes, { pageSize: 0, pageToken: '' })).nodes).toMatchObject([
    { nodeId: 3n, name: 'alpha' },
  ]);
});

it.each(['drainNode', 'deleteNode'] as const)('%s of an unknown node says so', async (method) => {
  const { client } = await runOrchestrator();
  const request = { nodeId: 9n, deadlineMillis: 0n };
  const call =
    method === 'drainNode'
      ? collect(streamCall(client, Service.drainNode, request))
      : unaryCall(client, Service.deleteNode, request);
  await expect(call).rejects.toMatchObject({ code: status.NOT_FOUND, reason: 'NODE_NOT_FOUND' });
});
