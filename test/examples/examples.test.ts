import { expect, it } from 'vitest';
import { RunPhase } from '../../src/index.js';
import { stageplane } from '../cli/child.js';
import { Cluster } from '../e2e/cluster.js';
import { getRun, watchUntil } from '../support/running-orchestrator.js';
import { examplePath, linesOfCode, startExample } from './example.js';

it.each([
  ['launcher', 20],
  ['agent', 40],
  ['engine', 60],
])('the %s fits in %i lines', (name, most) => {
  expect(linesOfCode(name)).toBeLessThanOrEqual(most);
});

it('the launcher plans, runs, asks and stops', async () => {
  const cluster = await Cluster.start(['alpha', 'beta'], { ownWorkers: true });
  const { code, stdout, stderr } = await startExample('launcher', cluster.model, 'once', cluster.address).end();
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).not.toBe('');
  await watchUntil(cluster.client, 1n, RunPhase.RUN_PHASE_DONE);
  expect(await cluster.end()).toEqual([]);
});

it('the launcher says why there is no plan', async () => {
  const cluster = await Cluster.start([]);
  const { code, stderr } = await startExample('launcher', cluster.model, 'once', cluster.address).end();
  expect(code).toBe(1);
  expect(stderr).toContain('Error: no node can take a stage');
});

it('the agent joins, is given a stage, says that it is ready, and ends it', async () => {
  const cluster = await Cluster.start([]);
  const agent = startExample('agent', cluster.address, 'pretender');
  await agent.shown('stdout', 'we are node 2');
  const runId = await cluster.create('pretended', 1);
  await agent.shown('stdout', `stage 0 of run ${runId} is ready`);
  // Nobody opens the edges of a stage that is only pretended, so the token endpoint waits for them.
  await watchUntil(cluster.client, runId, RunPhase.RUN_PHASE_WAITING_READY);
  await stageplane(['runs', 'stop', `${runId}`, '--orchestrator', cluster.address]);
  await watchUntil(cluster.client, runId, RunPhase.RUN_PHASE_DONE);
  expect((await getRun(cluster.client, runId)).stages).toHaveLength(1);
  agent.interrupt();
  const { code, stdout, stderr } = await agent.end();
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/ is stopped\nclosed\n$/);
});

it('the engine runs in three stages on three agents, and parrots what it has heard', async () => {
  const worker = `${process.execPath} ${examplePath('engine')}`;
  const cluster = await Cluster.start(['alpha', 'beta', 'gamma'], {
    ownWorkers: true,
    agentFlags: ['--worker', worker],
  });
  const prompt = 'the cat sat on the';
  const words = ['run', cluster.model, '--engine', 'parrot', '--stages', '3', '--prompt', prompt, '--max-tokens', '8'];
  const { code, stdout } = await stageplane([...words, '--orchestrator', cluster.address]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: ' cathe cathe cat\n' });
  expect(await cluster.end()).toEqual([]);
});
