import { status } from '@grpc/grpc-js';
import { expect, test } from 'vitest';
import { OrchestratorServiceService as Service } from '../../gen/stageplane/v1/orchestrator_service.js';
import { RunPhase } from '../../gen/stageplane/v1/run.js';
import { nodeId, runId } from '../../src/core/ids.js';
import { limits } from '../../src/core/limits.js';
import type { StoredWorld } from '../../src/core/machine/state.js';
import { unaryCall } from '../../src/grpc/client.js';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.js';
import { samplePlan } from '../core/machine/samples.js';
import { getRun, runOrchestrator, watchUntil } from '../support/running-orchestrator.js';
import { ScriptedAgent } from '../support/scripted-agent.js';
import { runSecured } from '../support/secured-orchestrator.js';
import { temporaryFolder } from '../support/temporary-folder.js';

type Additions = Partial<Pick<StoredWorld, 'nodes' | 'runs'>>;

/** Puts more into the store of an orchestrator that is not running. */
function fill(folder: string, more: (world: StoredWorld) => Additions): void {
  const store = openSqliteStore(folder, { newClusterId: () => 'unused' });
  const world = store.load();
  const { nodes = [], runs = [] } = more(world);
  const cluster = {
    ...world.cluster,
    nextNodeId: nodeId(world.cluster.nextNodeId + BigInt(nodes.length)),
    nextRunId: runId(world.cluster.nextRunId + BigInt(runs.length)),
  };
  const nothing = { deletedNodes: [], deletedRuns: [], requests: [], events: [], answers: [], footprints: [] };
  const access = { tokens: new Map(), certificates: new Map(), keys: new Map() };
  store.commit({ cluster, nodes, runs: runs.map((after) => ({ before: undefined, after })), ...nothing, ...access });
  store.close();
}

/** As many copies of the only one as there may be more. */
function copies<T>(most: number, next: bigint, [one]: readonly T[], make: (one: T, id: bigint) => T): T[] {
  return Array.from({ length: most - 1 }, (_, index) => make(one!, next + BigInt(index)));
}

const nodesUpTo = (most: number) => (world: StoredWorld) => ({
  nodes: copies(most, world.cluster.nextNodeId, world.nodes, (node, id) => {
    return { ...node, nodeId: nodeId(id), name: `n${id}`, instanceId: `i${id}` };
  }),
});

const runsUpTo = (most: number) => (world: StoredWorld) => ({
  runs: copies(most, world.cluster.nextRunId, world.runs, (run, id) => {
    return { ...run, runId: runId(id), requestId: `r${id}`, plan: { ...run.plan, runId: id } };
  }),
});

test('a pool that is full takes no other agent, and those that are in it come back', async () => {
  const dataFolder = temporaryFolder();
  const before = await runOrchestrator({ dataFolder });
  await (await ScriptedAgent.join(before.address, 'alpha')).vanish();
  await before.stop();
  fill(dataFolder, nodesUpTo(limits.nodes));
  const { address, client } = await runOrchestrator({ dataFolder });
  await expect(ScriptedAgent.join(address, 'beta')).rejects.toThrow(`already has ${limits.nodes} nodes`);
  await ScriptedAgent.join(address, 'alpha');
  await unaryCall(client, Service.deleteNode, { nodeId: 3n });
  await ScriptedAgent.join(address, 'beta');
});

test('a pool that is full redeems no token for another node', async () => {
  const dataFolder = temporaryFolder();
  const before = await runSecured({ dataFolder });
  await before.enrol('agent', 'alpha');
  await before.stop();
  fill(dataFolder, nodesUpTo(limits.nodes));
  const orchestrator = await runSecured({ dataFolder });
  const refused = { code: status.RESOURCE_EXHAUSTED, reason: 'TOO_MANY_NODES' };
  await expect(orchestrator.enrol('agent', 'beta')).rejects.toMatchObject(refused);
  // Whoever is no node finds room.
  await orchestrator.enrol('viewer', 'vera');
});

test('when as many runs are kept as may be, another one is refused until one is deleted', async () => {
  const dataFolder = temporaryFolder();
  const before = await runOrchestrator({ dataFolder });
  const agent = await ScriptedAgent.join(before.address, 'alpha');
  const create = ({ client }: typeof before, requestId: string) =>
    unaryCall(client, Service.createRun, { requestId, plan: samplePlan([2n]) });
  await create(before, 'first');
  await agent.becomeReady();
  await watchUntil(before.client, 1n, RunPhase.RUN_PHASE_RUNNING);
  await unaryCall(before.client, Service.stopRun, { runId: 1n });
  await agent.confirmStop();
  await watchUntil(before.client, 1n, RunPhase.RUN_PHASE_DONE);
  await agent.vanish();
  await before.stop();
  fill(dataFolder, runsUpTo(limits.runs));
  const orchestrator = await runOrchestrator({ dataFolder });
  await ScriptedAgent.join(orchestrator.address, 'alpha');
  const refused = { code: status.RESOURCE_EXHAUSTED, reason: 'TOO_MANY_RUNS' };
  await expect(create(orchestrator, 'another')).rejects.toMatchObject(refused);
  // A request that was granted before is no further run.
  expect((await create(orchestrator, 'first')).outcome).toMatchObject({ $case: 'run', value: { runId: 1n } });
  await unaryCall(orchestrator.client, Service.deleteRun, { runId: 2n });
  const { outcome } = await create(orchestrator, 'another');
  if (outcome?.$case !== 'run') throw new Error('no run was created');
  expect((await getRun(orchestrator.client, outcome.value.runId)).requestId).toBe('another');
});
