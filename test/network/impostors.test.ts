import { once } from 'node:events';
import { cpSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AdminServiceClient, AdminServiceService } from '../../gen/stageplane/v1/admin_service.js';
import { HeldStagePhase } from '../../gen/stageplane/v1/node_agent_service.js';
import { OrchestratorServiceService as Service } from '../../gen/stageplane/v1/orchestrator_service.js';
import { type Run, RunPhase, StageFaultReason, StagePhase } from '../../gen/stageplane/v1/run.js';
import { dial, unaryCall } from '../../src/grpc/client.js';
import { Child } from '../cli/child.js';
import { samplePlan } from '../core/machine/samples.js';
import { Cluster } from '../e2e/cluster.js';
import { getRun, watchUntil } from '../support/running-orchestrator.js';
import { ScriptedAgent } from '../support/scripted-agent.js';
import { connectedNodes, until } from './networked-cluster.js';

/** An agent process with a data folder of its choice, ended with the test. */
function startImpostor(
  { address }: Cluster,
  name: string,
  data: string,
  environment: Readonly<Record<string, string>> = {},
): Child {
  const child = new Child(['agent', '--orchestrator', address, '--name', name, '--data', data], environment);
  onTestFinished(async () => {
    child.process.kill('SIGKILL');
    await child.end();
  });
  return child;
}

/** Of the data folder of an agent that lives: files that come and go while it is read are left out. */
function copyOf({ folder }: Cluster, name: string): string {
  const copy = join(folder, 'copy');
  cpSync(join(folder, name), copy, { recursive: true, filter: (source) => !/lock|\.new$/.test(basename(source)) });
  return copy;
}

describe('a real agent', () => {
  it('that is a copy of a living one is refused, and that one never notices', async () => {
    const cluster = await Cluster.start(['alpha'], { flags: ['--heartbeat', '200ms'] });
    cluster.openGate();
    const runId = await cluster.create('r', 1);
    await watchUntil(cluster.client, runId, RunPhase.RUN_PHASE_RUNNING);
    const copy = copyOf(cluster, 'alpha');

    const { code, stderr } = await startImpostor(cluster, 'alpha', copy, { STAGEPLANE_KEEPALIVE_MILLIS: '1000' }).end();
    expect(code).toBe(1);
    expect(stderr).toContain(
      'node "alpha" is connected from another process: give this agent a data folder of its own',
    );
    expect(await connectedNodes(cluster)).toBe(1);
    expect((await getRun(cluster.client, runId)).phase).toBe(RunPhase.RUN_PHASE_RUNNING);
    expect(cluster.workersOf('alpha')).toHaveLength(1);
    expect(await cluster.end()).toEqual([]);
  });

  it('that replaces one which was killed takes over its node', async () => {
    const cluster = await Cluster.start(['alpha'], { flags: ['--heartbeat', '200ms'] });
    const copy = copyOf(cluster, 'alpha');
    await cluster.kill('alpha', 'SIGKILL');
    const successor = startImpostor(cluster, 'alpha', copy);
    await until(async () => (await connectedNodes(cluster)) === 1);
    const { nodes } = await unaryCall(cluster.client, Service.listNodes, { pageSize: 0, pageToken: '' });
    expect(nodes.map(({ nodeId }) => nodeId)).toEqual([2n]);
    successor.process.kill('SIGTERM');
    await once(successor.process, 'exit');
  });

  it('of another folder that uses its name is refused', async () => {
    const cluster = await Cluster.start(['alpha']);
    const { code, stderr } = await startImpostor(cluster, 'alpha', join(cluster.folder, 'other')).end();
    expect(code).toBe(1);
    expect(stderr).toContain('the name "alpha" belongs to node 2: start this agent with another --name');
    expect(await connectedNodes(cluster)).toBe(1);
  });
});

describe('a report that is not the agent’s to make', () => {
  it('changes nothing but the counter of ignored messages, and is acknowledged (I6)', async () => {
    const cluster = await Cluster.start([], { flags: ['--edge-deadline', '10m'] });
    const { client, address } = cluster;
    const admin = dial(`unix:${join(cluster.folder, 'orchestrator', 'admin.sock')}`, AdminServiceClient);
    onTestFinished(() => admin.close());
    const ignored = async () => (await unaryCall(admin, AdminServiceService.getServerInfo, {})).ignoredMessages;
    const [alpha, beta] = [await ScriptedAgent.join(address, 'alpha'), await ScriptedAgent.join(address, 'beta')];
    await unaryCall(client, Service.createRun, { requestId: 'r', plan: samplePlan([2n, 3n]) });
    await Promise.all([alpha.becomeReady(), beta.next('provision')]);
    await until(async () => phasesOf(await getRun(client, 1n))[0] === StagePhase.STAGE_PHASE_READY);

    const fault = { reason: StageFaultReason.STAGE_FAULT_REASON_INTERNAL, message: 'a lie', logTail: [] };
    const footprint = { bytesRead: 1n, bytesDigest: '', deviceBytes: 0n, hostBytes: 0n };
    const lies = [
      // Another node's stage.
      () => alpha.report({ runId: 1n, stageIndex: 1, generation: 1 }, { $case: 'ready', value: footprint }),
      () => alpha.report({ runId: 1n, stageIndex: 1, generation: 1 }, { $case: 'fault', value: fault }),
      // Generations that are over, or never were.
      () => alpha.report({ runId: 1n, stageIndex: 0, generation: 0 }, { $case: 'stopped', value: {} }),
      () => alpha.report({ runId: 1n, stageIndex: 0, generation: 2 }, { $case: 'fault', value: fault }),
      // No such run, no such stage.
      () => alpha.report({ runId: 9n, stageIndex: 0, generation: 1 }, { $case: 'stopped', value: {} }),
      () => alpha.report({ runId: 1n, stageIndex: 7, generation: 1 }, { $case: 'fault', value: fault }),
    ];
    await alpha.next('reportAck');
    const before = await getRun(client, 1n);
    for (const lie of lies) {
      const count = await ignored();
      lie();
      await alpha.next('reportAck');
      expect(await ignored()).toBe(count + 1n);
    }
    expect(await getRun(client, 1n)).toEqual(before);
  });

  it('that comes by an old session changes nothing either', async () => {
    const cluster = await Cluster.start([], { flags: ['--edge-deadline', '10m'] });
    const { client, address } = cluster;
    const old = await ScriptedAgent.join(address, 'alpha');
    await unaryCall(client, Service.createRun, { requestId: 'r', plan: samplePlan([2n]) });
    await old.becomeReady();
    await until(async () => phasesOf(await getRun(client, 1n))[0] === StagePhase.STAGE_PHASE_READY);
    const held = [{ runId: 1n, stageIndex: 0, generation: 1, phase: HeldStagePhase.HELD_STAGE_PHASE_READY }];
    // The same process, which has given up its old connection.
    const next = await ScriptedAgent.join(address, 'alpha', { held });
    const before = await getRun(client, 1n);
    const fault = { reason: StageFaultReason.STAGE_FAULT_REASON_INTERNAL, message: 'too late', logTail: [] };
    old.report({ runId: 1n, stageIndex: 0, generation: 1 }, { $case: 'fault', value: fault });
    expect(await old.ended).toBeDefined();
    next.say({ $case: 'heartbeat', value: { sequence: 1n, devices: [], stages: [] } });
    await next.next('heartbeatAck');
    expect(await getRun(client, 1n)).toEqual(before);
  });
});

const phasesOf = ({ stages }: Run) => stages.map(({ phase }) => phase);
