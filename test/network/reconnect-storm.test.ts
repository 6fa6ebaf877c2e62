import { readFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { HeldStagePhase, type Hello } from '../../gen/stageplane/v1/node_agent_service.js';
import { OrchestratorServiceService as Service } from '../../gen/stageplane/v1/orchestrator_service.js';
import { RunPhase, StagePhase } from '../../gen/stageplane/v1/run.js';
import { unaryCall } from '../../src/grpc/client.js';
import { samplePlan } from '../core/machine/samples.js';
import { Cluster } from '../e2e/cluster.js';
import { getRun, watchUntil } from '../support/running-orchestrator.js';
import { ScriptedAgent } from '../support/scripted-agent.js';
import { connectedNodes } from './networked-cluster.js';

const AGENTS = 500;
const STORMS = 3;
/** Agents that hold a stage of a run of their own. */
const HOLDERS = 4;

const nameOf = (at: number) => `node-${at}`;
const everyone = Array.from({ length: AGENTS }, (_, at) => at);

/** All at the same moment, without the jitter of real agents. Gives them with their node ids. */
async function joinAll(address: string, overrides: (at: number) => Partial<Hello> = () => ({})) {
  const agents = await Promise.all(everyone.map((at) => ScriptedAgent.join(address, nameOf(at), overrides(at))));
  const welcomes = await Promise.all(agents.map((agent) => agent.next('welcome')));
  return { agents, nodeIds: welcomes.map(({ nodeId }) => nodeId) };
}

/** Three heartbeats of each, answered: the loop has turned meanwhile, and nobody was sent away. */
async function beat(agents: readonly ScriptedAgent[]): Promise<void> {
  for (let sequence = 1n; sequence <= 3n; sequence += 1n) {
    for (const agent of agents) agent.say({ $case: 'heartbeat', value: { sequence, devices: [], stages: [] } });
    const acks = await Promise.all(agents.map((agent) => agent.next('heartbeatAck')));
    expect(acks.every((ack) => ack.sequence === sequence)).toBe(true);
  }
}

function residentMiB(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

it.runIf(process.platform === 'linux')(
  `${AGENTS} agents that come back at the same moment are reconciled at once, again and again, in bounded memory`,
  async () => {
    const cluster = await Cluster.start([], { flags: ['--start-grace', '60s', '--edge-deadline', '10m'] });
    const { client } = cluster;
    let { agents, nodeIds } = await joinAll(cluster.address);
    onTestFinished(() => Promise.all(agents.map((agent) => agent.vanish())).then(() => {}));
    const holders = agents.slice(0, HOLDERS);
    for (const at of holders.keys()) {
      await unaryCall(client, Service.createRun, { requestId: `r${at}`, plan: samplePlan([nodeIds[at]!]) });
    }
    // Their endpoints have no stage to speak to, so the runs wait for edges: what counts here is what the agents hold.
    await Promise.all(holders.map((agent) => agent.becomeReady()));

    const resident: number[] = [];
    for (let storm = 1; storm <= STORMS; storm += 1) {
      await cluster.kill('orchestrator', 'SIGKILL');
      await Promise.all(agents.map((agent) => agent.vanish()));
      await cluster.startOrchestrator();
      const phase = HeldStagePhase.HELD_STAGE_PHASE_READY;
      const back = await joinAll(cluster.address, (at) => ({
        held: at < HOLDERS ? [{ runId: BigInt(at + 1), stageIndex: 0, generation: 1, phase }] : [],
        processId: `process-${nameOf(at)}`,
      }));
      expect(back.nodeIds).toEqual(nodeIds);
      agents = back.agents;
      await beat(agents);
      resident.push(Math.round(residentMiB(cluster.pid('orchestrator'))));
      // Nobody was dropped for having been answered late: that would be the next storm.
      expect(await connectedNodes(cluster)).toBe(AGENTS);
    }
    // What a connection and a node cost, with room to spare: 1 MiB each, on top of the process itself.
    for (const mib of resident) expect(mib).toBeLessThan(AGENTS + 256);
    for (let runId = 1n; runId <= HOLDERS; runId += 1n) {
      expect((await getRun(client, runId)).stages[0]).toMatchObject({ phase: StagePhase.STAGE_PHASE_READY });
      await unaryCall(client, Service.stopRun, { runId });
    }
    await Promise.all(agents.slice(0, HOLDERS).map((agent) => agent.confirmStop()));
    for (let runId = 1n; runId <= HOLDERS; runId += 1n) await watchUntil(client, runId, RunPhase.RUN_PHASE_DONE);
  },
  180_000,
);
