import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { PlanRequest } from '../../gen/stageplane/v1/planner.js';
import { packageRoot } from '../../src/package-root.js';
import { samplePlan } from '../core/machine/samples.js';
import { runOrchestrator } from '../support/running-orchestrator.js';
import { ScriptedAgent } from '../support/scripted-agent.js';

const buf = join(packageRoot(), 'node_modules', '.bin', 'buf');
const service = 'stageplane.v1.OrchestratorService';

/** What this test reads of one answer of WatchRun. */
interface WatchedEvent {
  readonly event?: { readonly runPhase?: { readonly phase: string } };
}

/** `buf curl` knows nothing of our proto files: all it knows it learns by reflection. */
function reflectionClient(address: string) {
  const curl = async (...args: string[]): Promise<string> => {
    const { stdout } = await promisify(execFile)(buf, [
      'curl',
      '--protocol',
      'grpc',
      '--http2-prior-knowledge',
      ...args,
    ]);
    return stdout;
  };
  return {
    list: async (target: string) => (await curl(target, `http://${address}`)).trim().split('\n').sort(),
    call: async (method: string, request: object, of = service) => {
      const answer = await curl('--data', JSON.stringify(request), `http://${address}/${of}/${method}`);
      // A stream answers with one document after another.
      return JSON.parse(`[${answer.trim().replace(/\}\s*\n\s*\{/g, '},{')}]`);
    },
  };
}

describe('a reflection client', () => {
  it('lists services and methods', async () => {
    const { address } = await runOrchestrator();
    const client = reflectionClient(address);
    expect(await client.list('--list-services')).toEqual([
      'grpc.health.v1.Health',
      'stageplane.v1.NodeAgentService',
      'stageplane.v1.OrchestratorService',
    ]);
    expect(await client.list('--list-methods')).toContain(`${service}/PlanRun`);
  });

  it('plans, creates, reads and watches a run', async () => {
    const { address } = await runOrchestrator();
    const client = reflectionClient(address);
    const agent = await ScriptedAgent.join(address, 'alpha');
    const plan = PlanRequest.toJSON(samplePlan([2n])) as object;

    const [planned] = await client.call('PlanRun', { plan });
    expect(planned.plan.plan.stages).toMatchObject([{ nodeId: '2', layerEndExclusive: 8 }]);
    const [created] = await client.call('CreateRun', { requestId: 'r', plan });
    expect(created.run).toMatchObject({ runId: '1', phase: 'RUN_PHASE_PROVISIONING' });
    await agent.becomeReady();
    await client.call('StopRun', { runId: '1' });
    await agent.confirmStop();

    const watched: WatchedEvent[] = await client.call('WatchRun', { runId: '1' });
    const phases = watched.flatMap(({ event }) => event?.runPhase?.phase ?? []);
    expect(phases.at(0)).toBe('RUN_PHASE_PROVISIONING');
    expect(phases.at(-1)).toBe('RUN_PHASE_DONE');
    const [{ run }] = await client.call('GetRun', { runId: '1' });
    expect(run).toMatchObject({ phase: 'RUN_PHASE_DONE', outcome: 'RUN_OUTCOME_STOPPED' });
  });

  it('hears that the orchestrator serves', async () => {
    const { address } = await runOrchestrator();
    const health = reflectionClient(address).call('Check', { service }, 'grpc.health.v1.Health');
    expect(await health).toEqual([{ status: 'SERVING' }]);
  });

  it('is told what is wrong with its request', async () => {
    const { address } = await runOrchestrator();
    const failed = reflectionClient(address).call('GetRun', { runId: '7' });
    await expect(failed).rejects.toThrow(/not_found.*there is no run 7/s);
  });
});
