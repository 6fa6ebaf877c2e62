import { expect, it } from 'vitest';
import { startAgent } from '../agent/start-agent.js';
import { runOrchestrator } from '../support/running-orchestrator.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { failed, stageplane } from './child.js';

it('an orchestrator that serves is well, and one that is gone cannot be reached', async () => {
  const { address, stop } = await runOrchestrator();
  const health = () => stageplane(['health', '--orchestrator', address]);
  expect(await health()).toEqual({ code: 0, stdout: `the orchestrator at ${address} serves\n`, stderr: '' });
  expect((await stageplane(['health', '--orchestrator', address, '--json'])).stdout).toBe('{\n  "healthy": true\n}\n');
  await stop();
  expect(await health()).toMatchObject({ code: 5, stdout: '' });
});

it('an agent is well once it has joined, also when its orchestrator is gone', async () => {
  const dataFolder = temporaryFolder();
  const health = () => stageplane(['health', '--role', 'agent', '--data', dataFolder]);
  expect(await health()).toEqual(failed(1, `no agent runs on ${dataFolder}: start it, or name its folder by --data`));
  const { address, stop } = await runOrchestrator();
  startAgent(address, { dataFolder });
  while ((await health()).code !== 0);
  await stop();
  expect(await health()).toEqual({ code: 0, stdout: `node 2 runs on ${dataFolder}\n`, stderr: '' });
});
