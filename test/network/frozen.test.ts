import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { OrchestratorServiceService as Service } from '../../gen/stageplane/v1/orchestrator_service.js';
import { RunOutcome, RunPhase, StageFaultReason } from '../../gen/stageplane/v1/run.js';
import { nodesReady } from '../../src/demo/wait-for.js';
import { unaryCall } from '../../src/grpc/client.js';
import { isAlive } from '../../src/process/descendants.js';
import type { Cluster } from '../e2e/cluster.js';
import { getRun, watchUntil } from '../support/running-orchestrator.js';
import { allStopped, connectedNodes, startNetworked, until } from './networked-cluster.js';

const { RUN_PHASE_RUNNING, RUN_PHASE_DONE } = RunPhase;

/** SIGSTOP, taken back with the test. */
function freeze(cluster: Cluster, name: string): () => void {
  const pid = cluster.pid(name);
  const thaw = () => {
    if (isAlive(pid)) process.kill(pid, 'SIGCONT');
  };
  process.kill(pid, 'SIGSTOP');
  onTestFinished(thaw);
  return thaw;
}

describe('a frozen agent', () => {
  it('is noticed, its run says NODE_LOST, and when it thaws nothing of the run is left on it (I18)', async () => {
    const { cluster } = await startNetworked(['alpha', 'beta']);
    const { client } = cluster;
    const runId = await cluster.create('r', 2);
    await watchUntil(client, runId, RUN_PHASE_RUNNING);
    const victim = (await getRun(client, runId)).stages[1]!.nodeName;

    const thaw = freeze(cluster, victim);
    await watchUntil(client, runId, RUN_PHASE_DONE);
    expect(await getRun(client, runId)).toMatchObject({
      outcome: RunOutcome.RUN_OUTCOME_FAULTED,
      cause: { reason: StageFaultReason.STAGE_FAULT_REASON_NODE_LOST, stageIndex: 1, nodeName: victim },
    });
    thaw();
    await allStopped(cluster, runId);
    for (const name of ['alpha', 'beta']) expect(cluster.workersOf(name).filter(isAlive)).toEqual([]);

    await nodesReady(client, 2);
    await watchUntil(client, await cluster.create('again', 2), RUN_PHASE_RUNNING);
    expect(await cluster.end()).toEqual([]);
  });

  it('that thaws within its grace keeps its stages', async () => {
    const { cluster, networks } = await startNetworked(['alpha', 'beta'], ['--heartbeat', '200ms', '--grace', '30s']);
    const { client } = cluster;
    const runId = await cluster.create('r', 2);
    await watchUntil(client, runId, RUN_PHASE_RUNNING);
    const victim = (await getRun(client, runId)).stages[0]!.nodeName;
    const workers = ['alpha', 'beta'].map((name) => cluster.workersOf(name));

    const thaw = freeze(cluster, victim);
    await until(async () => (await connectedNodes(cluster)) === 1);
    thaw();
    await until(async () => networks.get(victim)!.connections > 1 && (await connectedNodes(cluster)) === 2);
    await nodesReady(client, 2);
    expect((await getRun(client, runId)).phase).toBe(RUN_PHASE_RUNNING);
    expect(['alpha', 'beta'].map((name) => cluster.workersOf(name))).toEqual(workers);
    expect(await cluster.end()).toEqual([]);
  });
});

describe('a frozen orchestrator', () => {
  it('that thaws after more than the grace finds its run as it was, and ends no healthy work', async () => {
    const { cluster, networks } = await startNetworked(['alpha', 'beta', 'gamma']);
    const { client } = cluster;
    const runId = await cluster.create('r', 3);
    await watchUntil(client, runId, RUN_PHASE_RUNNING);
    const names = [...networks.keys()];
    const workers = names.map((name) => cluster.workersOf(name));

    // One of them is out of contact already: its grace must not be over just because nobody could hear it.
    const network = networks.get('beta')!;
    network.manner = 'swallow';
    network.reset();
    await until(async () => (await connectedNodes(cluster)) === 2);
    const thaw = freeze(cluster, 'orchestrator');
    network.manner = 'pass';
    // Longer than the grace, and than a stall that the loop takes notice of; each agent has given its session up by then.
    await sleep(6_000);
    await until(() => [...networks.values()].every(({ connections }) => connections > 1));
    thaw();
    await until(async () => (await connectedNodes(cluster)) === 3);
    await nodesReady(client, 3);
    expect((await getRun(client, runId)).phase).toBe(RUN_PHASE_RUNNING);
    expect(names.map((name) => cluster.workersOf(name))).toEqual(workers);
    expect(workers.flat().every(isAlive)).toBe(true);

    await unaryCall(client, Service.stopRun, { runId });
    await watchUntil(client, runId, RUN_PHASE_DONE);
    expect(await cluster.end()).toEqual([]);
  });
});
