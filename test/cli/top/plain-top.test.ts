import { describe, expect, it } from 'vitest';
import { OrchestratorServiceService as Service } from '../../../gen/stageplane/v1/orchestrator_service.js';
import { RunPhase } from '../../../gen/stageplane/v1/run.js';
import { unaryCall } from '../../../src/grpc/client.js';
import { samplePlan } from '../../core/machine/samples.js';
import { runOrchestrator, watchUntil } from '../../support/running-orchestrator.js';
import { ScriptedAgent } from '../../support/scripted-agent.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { Child, stageplane } from '../child.js';

describe('top without a terminal', () => {
  it('shows what there is, a line per change, and goes on after the orchestrator was away', async () => {
    const dataFolder = temporaryFolder();
    const first = await runOrchestrator({ dataFolder });
    const alpha = await ScriptedAgent.join(first.address, 'alpha');
    const child = new Child(['top', '--orchestrator', first.address]);
    await child.shown('stdout', 'no runs');
    expect(child.stdout).toMatch(/2 {2}alpha {2}schedulable/);
    // So that what follows is a change to somebody who listens already.
    await unaryCall(first.client, Service.cordonNode, { nodeId: 2n });
    await child.shown('stdout', 'node alpha (2)  cordoned  0 stages');
    await unaryCall(first.client, Service.uncordonNode, { nodeId: 2n });
    await unaryCall(first.client, Service.createRun, { requestId: 'r', plan: samplePlan([2n]) });
    await alpha.becomeReady();
    await child.shown('stdout', 'run 1  RUNNING');
    expect(child.stdout).not.toContain('\x1b');

    await first.stop();
    await child.shown('stderr', 'connection lost, trying again');
    const second = await runOrchestrator({ dataFolder, listen: first.address });
    await child.shown('stdout', 'connected again');
    const held = [{ runId: 1n, stageIndex: 0, generation: 1, phase: 2 }];
    const back = await ScriptedAgent.join(second.address, 'alpha', { held });
    await unaryCall(second.client, Service.stopRun, { runId: 1n });
    await back.confirmStop();
    await watchUntil(second.client, 1n, RunPhase.RUN_PHASE_DONE);
    await child.shown('stdout', 'run 1  DONE  STOPPED');
    // Nothing is told twice, whatever was said again after the reconnect.
    expect(child.stdout.match(/run 1 {2}RUNNING/g)).toHaveLength(1);
    child.interrupt();
    expect((await child.end()).code).toBe(130);
  });

  it('shows it once, and as JSON', async () => {
    const { address, client } = await runOrchestrator();
    await ScriptedAgent.join(address, 'alpha');
    const once = await stageplane(['top', '--once', '--orchestrator', address]);
    expect([once.code, once.stderr]).toEqual([0, '']);
    expect(once.stdout).toMatch(/alpha {2}schedulable/);
    const document = await stageplane(['top', '--once', '--json', '--orchestrator', address]);
    expect(JSON.parse(document.stdout)).toMatchObject({ nodes: [{ name: 'alpha' }], runs: [] });

    const child = new Child(['top', '--json', '--orchestrator', address]);
    await child.shown('stdout', '"connected"');
    await unaryCall(client, Service.createRun, { requestId: 'r', plan: samplePlan([2n]) });
    await child.shown('stdout', '"runPhase"');
    child.interrupt();
    const { stdout } = await child.end();
    const objects = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(objects).toContainEqual({ connection: { state: 'connected' } });
    expect(objects.some(({ node }) => node?.name === 'alpha')).toBe(true);
    expect(objects.find(({ event }) => event)).toMatchObject({ event: { runId: '1', runPhase: {} } });
  });

  it('says that nobody answers, as every command does', async () => {
    const { code, stderr } = await stageplane(['top', '--orchestrator', '127.0.0.1:1']);
    expect(code).toBe(5);
    expect(stderr).toMatch(/^stageplane: no orchestrator answers at 127\.0\.0\.1:1 /);
  });
});
