import { describe, expect, it } from 'vitest';
import { RunOutcome, RunPhase, StageFaultReason } from '../../gen/stageplane/v1/run.js';
import { nodesReady } from '../../src/demo/wait-for.js';
import { isAlive } from '../../src/process/descendants.js';
import { getRun, watchUntil } from '../support/running-orchestrator.js';
import { allStopped, connectedNodes, startNetworked, until } from './networked-cluster.js';

const { RUN_PHASE_RUNNING, RUN_PHASE_DONE } = RunPhase;

/** Keeps sessions waiting for each other; nothing is lost before its time. */
const patient = ['--heartbeat', '200ms', '--grace', '60s', '--start-grace', '60s'];

describe('a connection that swallows all bytes', () => {
  it('is noticed by both sides; healed within the grace, the run goes on with the same workers', async () => {
    const { cluster, networks } = await startNetworked(['alpha', 'beta'], patient);
    const { client } = cluster;
    const runId = await cluster.create('r', 2);
    await watchUntil(client, runId, RUN_PHASE_RUNNING);
    const victim = (await getRun(client, runId)).stages[0]!.nodeName;
    const network = networks.get(victim)!;
    const workers = ['alpha', 'beta'].map((name) => cluster.workersOf(name));

    network.manner = 'swallow';
    // The orchestrator's side: it gives the session up without having heard of an end.
    await until(async () => (await connectedNodes(cluster)) === 1);
    // The agent's side: it connects anew, into the void.
    await until(() => network.connections > 1);
    network.manner = 'pass';
    await until(async () => (await connectedNodes(cluster)) === 2);
    await nodesReady(client, 2);
    expect((await getRun(client, runId)).phase).toBe(RUN_PHASE_RUNNING);
    expect(['alpha', 'beta'].map((name) => cluster.workersOf(name))).toEqual(workers);
    expect(await cluster.end()).toEqual([]);
  });

  it('beyond the grace ends the run NODE_LOST; healed, the agent stops what it holds (I18, I20)', async () => {
    const { cluster, networks } = await startNetworked(['alpha', 'beta']);
    const { client } = cluster;
    const runId = await cluster.create('r', 2);
    await watchUntil(client, runId, RUN_PHASE_RUNNING);
    const victim = (await getRun(client, runId)).stages[1]!.nodeName;
    networks.get(victim)!.manner = 'swallow';
    await watchUntil(client, runId, RUN_PHASE_DONE);
    expect(await getRun(client, runId)).toMatchObject({
      outcome: RunOutcome.RUN_OUTCOME_FAULTED,
      cause: { reason: StageFaultReason.STAGE_FAULT_REASON_NODE_LOST, stageIndex: 1, nodeName: victim },
    });
    networks.get(victim)!.manner = 'pass';
    await allStopped(cluster, runId);
    expect([...networks.keys()].flatMap((name) => cluster.workersOf(name)).filter(isAlive)).toEqual([]);
    await watchUntil(client, await cluster.create('again', 2), RUN_PHASE_RUNNING);
    expect(await cluster.end()).toEqual([]);
  });

  it('while others pass: the agent comes by a new one before the orchestrator misses it, and keeps its stage', async () => {
    const { cluster, networks } = await startNetworked(['alpha', 'beta'], patient);
    const { client } = cluster;
    const runId = await cluster.create('r', 2);
    await watchUntil(client, runId, RUN_PHASE_RUNNING);
    const network = networks.get('alpha')!;
    network.manner = 'swallow';
    network.manner = 'pass';
    await until(() => network.connections > 1);
    await until(async () => (await connectedNodes(cluster)) === 2);
    await nodesReady(client, 2);
    expect((await getRun(client, runId)).phase).toBe(RUN_PHASE_RUNNING);
    for (const name of networks.keys()) expect(cluster.workersOf(name)).toHaveLength(1);
    expect(await cluster.end()).toEqual([]);
  });

  it('and hides that the machine went down: the agent that comes up again takes its node over', async () => {
    const { cluster, networks } = await startNetworked(['alpha', 'beta'], patient);
    const { client } = cluster;
    const runId = await cluster.create('r', 1);
    await watchUntil(client, runId, RUN_PHASE_RUNNING);
    const victim = (await getRun(client, runId)).stages[0]!.nodeName;
    const network = networks.get(victim)!;
    // No end of the connection comes through: to the orchestrator the old agent is there, only silent.
    network.manner = 'swallow';
    await cluster.kill(victim, 'SIGKILL');
    network.manner = 'pass';
    cluster.startAgent(victim, { orchestrator: network.address });
    await watchUntil(client, runId, RUN_PHASE_DONE);
    expect(await getRun(client, runId)).toMatchObject({ outcome: RunOutcome.RUN_OUTCOME_FAULTED });
    await allStopped(cluster, runId);
    await nodesReady(client, 2);
    await watchUntil(client, await cluster.create('again', 2), RUN_PHASE_RUNNING);
    expect(await cluster.end()).toEqual([]);
  });

  it('keeps no orchestrator that is told to stop', async () => {
    const { cluster, networks } = await startNetworked(['alpha'], patient);
    networks.get('alpha')!.manner = 'swallow';
    await cluster.kill('orchestrator', 'SIGTERM');
    await cluster.kill('alpha', 'SIGTERM');
    expect(await cluster.end()).toEqual([]);
  });

  it('before a provision was acknowledged: the stage is provisioned once, when the agent is back (I3, I19)', async () => {
    const { cluster, networks } = await startNetworked(['alpha', 'beta'], patient);
    const { client } = cluster;
    const network = networks.get('alpha')!;
    network.manner = 'swallow';
    // Planned for a node that is still thought to be there: what is sent to it never arrives.
    const runId = await cluster.create('r', 2);
    await until(() => network.connections > 1);
    network.manner = 'pass';
    await watchUntil(client, runId, RUN_PHASE_RUNNING);
    for (const name of networks.keys()) expect(cluster.workersOf(name)).toHaveLength(1);
    expect(await cluster.end()).toEqual([]);
  });
});

describe('a connection that is held up and then delivers', () => {
  it('for less than keepalive allows is nobody’s business', async () => {
    const { cluster, networks } = await startNetworked(['alpha', 'beta']);
    const { client } = cluster;
    for (const network of networks.values()) network.manner = 'hold';
    const creating = cluster.create('r', 2);
    const runId = await creating;
    for (const network of networks.values()) network.manner = 'pass';
    await watchUntil(client, runId, RUN_PHASE_RUNNING);
    for (const name of networks.keys()) expect(cluster.workersOf(name)).toHaveLength(1);
    expect(await cluster.end()).toEqual([]);
  });

  it('after both sides have given it up changes nothing: what it brings is of an old session (I6)', async () => {
    const { cluster, networks } = await startNetworked(['alpha', 'beta'], patient);
    const { client } = cluster;
    cluster.closeGate();
    const runId = await cluster.create('r', 2);
    await until(() => [...networks.keys()].every((name) => cluster.workersOf(name).length === 1));
    const network = networks.get('alpha')!;
    network.manner = 'hold';
    cluster.openGate();
    await until(async () => (await connectedNodes(cluster)) === 1);
    await until(() => network.connections > 1);
    network.manner = 'pass';
    await watchUntil(client, runId, RUN_PHASE_RUNNING);
    for (const name of networks.keys()) expect(cluster.workersOf(name)).toHaveLength(1);
    expect(await cluster.end()).toEqual([]);
  });
});
