import { beforeAll, describe, expect, it } from 'vitest';
import { nodesReady } from '../../src/demo/wait-for.js';
import { Child, stageplane } from '../cli/child.js';
import { afterFile } from '../support/after-file.js';
import { Cluster } from './cluster.js';

const finished = afterFile();
let cluster: Cluster;

/** Two nodes of one build, and gamma, whose workers say that they are another. */
beforeAll(async () => {
  cluster = await Cluster.start(['alpha', 'beta'], { ownWorkers: true, finished });
  cluster.startAgent('gamma', { ownWorkers: false });
  cluster.openGate();
  await nodesReady(cluster.client, 3);
});

const ask = (...words: readonly string[]) => stageplane([...words, '--orchestrator', cluster.address]);

/** A run whose answer ends soon; gives its id and what was shown of it. */
async function answered(nodes: string, fidelity: string) {
  const place = nodes.split(',').map((node, stage) => `${stage}=${node}`);
  const prompt = ['--prompt', 'Why is the sky blue?', '--max-tokens', '12'];
  const asked = ['--engine', 'fixture', '--place', place.join(','), '--fidelity', fidelity, ...prompt];
  const { code, stderr } = await ask('run', cluster.model, ...asked);
  expect(code).toBe(0);
  return { id: /^run (\d+)$/m.exec(stderr)![1]!, stderr };
}

describe('what a run promises of its text', () => {
  it.each([
    ['alpha,beta', 'exact', 'exact'],
    ['alpha,beta', 'fast', 'same-kernels'],
    ['alpha,gamma', 'fast', 'mixed'],
  ])('on %s, asked to be %s, is %s wherever it is shown', async (nodes, asked, promised) => {
    const place = nodes.split(',').map((node, stage) => `${stage}=${node}`);
    const plan = await ask(
      'plan',
      cluster.model,
      '--engine',
      'fixture',
      '--place',
      place.join(','),
      '--fidelity',
      asked,
    );
    expect(plan.stdout).toMatch(new RegExp(`^fidelity: +${promised}$`, 'm'));
    const { id, stderr } = await answered(nodes, asked);
    expect(stderr).toContain(`run ${id}  fidelity ${promised}\n`);
    expect((await ask('runs', 'get', id)).stdout).toMatch(new RegExp(`^fidelity: +${promised}$`, 'm'));
    const verified = await ask('verify', id, '--json');
    expect(JSON.parse(verified.stdout)).toMatchObject({
      identical: true,
      fidelity: promised,
      kernels: { comparison: promised === 'mixed' ? 'different' : 'same' },
    });
  });

  it('is said before a chat begins', async () => {
    const run = ['run', cluster.model, '--engine', 'fixture', '--place', '0=alpha,1=beta', '--fidelity', 'exact'];
    const { stdout } = await ask(...run, '--until', 'ready', '--json');
    const id = JSON.parse(stdout.split('\n')[0]!).run.runId;
    const chat = new Child(['chat', id, '--plain', '--orchestrator', cluster.address]);
    chat.process.stdin!.end();
    const { stderr } = await chat.end();
    expect(stderr).toContain(`run ${id}, exact: bit for bit what the whole model gives`);
  });

  it('is not exact with a node of another build, which is named', async () => {
    const place = ['--place', '0=alpha,1=gamma', '--engine', 'fixture'];
    const { code, stderr } = await ask('run', cluster.model, ...place, '--fidelity', 'exact');
    expect(code).toBe(3);
    expect(stderr).toMatch(
      /node "gamma" runs build own [0-9a-f]{16} of engine "fixture", node "alpha" build stageplane .*, fixture 1: an exact run needs one build/,
    );
  });

  it('is verified with the kernels of this machine, which is said', async () => {
    const { id } = await answered('alpha,gamma', 'fast');
    const { stdout } = await ask('verify', id);
    expect(stdout).toMatch(/^promised: +mixed: nodes compute with different kernels and round differently$/m);
    expect(stdout).toMatch(
      /^kernels: +different kernels are compared: here stageplane .*, fixture 1; gamma own [0-9a-f]{16}$/m,
    );
  });
});
