import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { OrchestratorServiceService as Service } from '../../gen/stageplane/v1/orchestrator_service.js';
import { leftovers } from '../../src/demo/leftovers.js';
import { writeTinyModel } from '../../src/gguf/tiny-model.js';
import { unaryCall } from '../../src/grpc/client.js';
import { descendantsOf, isAlive } from '../../src/process/descendants.js';
import { findLlamaPackage } from '../../src/worker/engine/llama/llama-package.js';
import { Child } from '../cli/child.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { Cluster } from './cluster.js';

const pause = () => new Promise((resolve) => setTimeout(resolve, 20));

/** A home of its own for whatever `up` starts, and a model in it. */
async function home(chatTemplate = '') {
  const folder = temporaryFolder();
  const runtime = join(folder, 'run');
  mkdirSync(runtime);
  const [model] = await writeTinyModel(join(folder, 'tiny.gguf'), { layers: 4, chatTemplate });
  const environment = { XDG_STATE_HOME: join(folder, 'state'), XDG_RUNTIME_DIR: runtime };
  const up = (...words: string[]) => {
    const child = new Child(['up', model, '--listen', '127.0.0.1:0', '--threads', '1', ...words], environment);
    // A test that fails leaves it, and what it has started ends with it.
    onTestFinished(() => void child.process.kill('SIGKILL'));
    return child;
  };
  const plain = (...words: string[]) => new Child(words, environment).end();
  const state = join(folder, 'state', 'stageplane', 'up');
  return { folder, model, up, plain, state };
}

/** Every process of an `up` that is under way, itself included. */
function processesOf({ process }: Child): number[] {
  return [process.pid!, ...descendantsOf(process.pid!)];
}

function workersOf(child: Child): number[] {
  return processesOf(child).filter((pid) => /worker.main\.js/.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8')));
}

async function expectAllGone(folder: string, pids: readonly number[]): Promise<void> {
  while (pids.some(isAlive)) await pause();
  expect(leftovers(folder, pids)).toEqual([]);
}

const endpointOf = ({ stdout }: Child) => /OpenAI endpoint +(\S+)/.exec(stdout)?.[1] ?? '';

/** What the printed line for curl gets as an answer, for a few tokens. */
async function tried(line: string): Promise<{ path: string; status: number }> {
  const [, url = '', body = ''] = /curl (\S+) .* -d '(.*)'/.exec(line) ?? [];
  const headers = { 'content-type': 'application/json' };
  const asked = { ...JSON.parse(body), max_tokens: 4 };
  const { status } = await fetch(url, { method: 'POST', headers, body: JSON.stringify(asked) });
  return { path: new URL(url).pathname, status };
}

describe('up', () => {
  it('serves a model from nothing, says so again without a second run, and ends all that it started', async () => {
    const { folder, model, up, plain } = await home();
    const serving = up();
    await serving.shown('stdout', 'Ctrl-C');
    const body = JSON.stringify({ model: 'stageplane-tiny', prompt: 'Hello', max_tokens: 4 });
    const url = endpointOf(serving);
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${url}/completions`, { method: 'POST', headers, body });
    expect(await answer.json()).toMatchObject({ model: 'stageplane-tiny', usage: { completion_tokens: 4 } });

    expect(await tried(serving.stdout)).toEqual({ path: '/v1/completions', status: 200 });

    const again = await plain('up', model, '--threads', '1');
    expect(again).toMatchObject({ code: 0, stderr: '' });
    expect(again.stdout).toContain('run 1 serves this already');
    expect(again.stdout).toContain(url);
    const stop = /^stop +stageplane (.+)$/m.exec(again.stdout)?.[1] ?? '';
    expect(stop).toMatch(/^runs stop 1 --orchestrator 127\.0\.0\.1:\d+$/);
    expect(await plain(...stop.replace('stop', 'get').split(' '))).toMatchObject({ code: 0 });

    const pids = processesOf(serving);
    expect(pids.length).toBeGreaterThanOrEqual(5);
    serving.interrupt();
    const { code, stdout } = await serving.end();
    expect([code, stdout.trim().split('\n').at(-1)]).toEqual([0, 'run 1 is stopped']);
    expect(leftovers(folder, pids)).toEqual([]);
  });

  it('shows how to chat where the model brings a template, and leaves no orphan when it is killed', async () => {
    const { folder, up } = await home('{% for m in messages %}{{ m.content }}{% endfor %}');
    const serving = up('--json');
    await serving.shown('stdout', '"example"');
    const { endpoint } = JSON.parse(serving.stdout.trim().split('\n').at(-1)!);
    const path = findLlamaPackage().kind === 'found' ? '/v1/chat/completions' : '/v1/completions';
    expect(await tried(endpoint.example)).toEqual({ path, status: 200 });
    const pids = processesOf(serving);
    serving.process.kill('SIGKILL');
    await serving.end();
    await expectAllGone(folder, pids);
  });

  it.each([
    ['orchestrator.log', 'the orchestrator starts'],
    ['agent.log', 'the agent joins'],
  ])('ends what it has started by then when it is interrupted while %s is new: %s', async (log) => {
    const { folder, up, state } = await home();
    const serving = up();
    while (!existsSync(join(state, log))) await pause();
    const pids = processesOf(serving);
    serving.interrupt();
    expect((await serving.end()).code).toBe(130);
    await expectAllGone(folder, pids);
  });

  it('stops a run that still loads when it is interrupted', async () => {
    const { folder, up } = await home();
    const serving = up();
    await serving.shown('stdout', 'run 1\n');
    const pids = processesOf(serving);
    serving.interrupt();
    const { code, stdout } = await serving.end();
    expect([code, stdout.includes('run 1 is stopped')]).toEqual([stdout.includes('Ctrl-C') ? 0 : 130, true]);
    expect(leftovers(folder, pids)).toEqual([]);
  });

  it('serves once, with one run, when it is started twice at once', async () => {
    const { folder, up } = await home();
    const both = [up(), up()];
    await Promise.all(both.map((one) => one.shown('stdout', 'OpenAI endpoint')));
    expect(both.map(({ stdout }) => /run \d+/.exec(stdout)?.[0])).toEqual(['run 1', 'run 1']);
    const pids = both.flatMap(processesOf);
    for (const one of both) one.interrupt();
    await Promise.all(both.map((one) => one.end()));
    await expectAllGone(folder, pids);
  });

  it('serves from nothing when it is started while another one ends, or was just killed', async () => {
    const { folder, up } = await home();
    let serving = up();
    const pids: number[] = [];
    for (const signal of ['SIGINT', 'SIGKILL', 'SIGINT'] as const) {
      await serving.shown('stdout', 'OpenAI endpoint');
      pids.push(...processesOf(serving));
      const before = serving;
      // They end late, and so does all that waits for them.
      for (const pid of workersOf(before)) process.kill(pid, 'SIGSTOP');
      before.process.kill(signal);
      serving = up();
      await before.end();
    }
    await serving.shown('stdout', 'OpenAI endpoint');
    pids.push(...processesOf(serving));
    serving.interrupt();
    expect((await serving.end()).code).toBe(0);
    await expectAllGone(folder, pids);
  });

  it('ends the run of one that was killed, when it is to serve something else', async () => {
    const { folder, up } = await home();
    const killed = up();
    await killed.shown('stdout', 'OpenAI endpoint');
    const pids = processesOf(killed);
    killed.process.kill('SIGKILL');
    await killed.end();
    const serving = up('--context', '64');
    await serving.shown('stdout', 'OpenAI endpoint');
    pids.push(...processesOf(serving));
    const url = endpointOf(serving).replace('/v1', '/api/ListRuns');
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(url, { method: 'POST', headers, body: '{}' });
    expect(await answer.json()).toMatchObject({
      runs: [
        { runId: '2', phase: 'RUN_PHASE_RUNNING' },
        { runId: '1', phase: 'RUN_PHASE_DONE', outcome: 'RUN_OUTCOME_STOPPED' },
      ],
    });
    serving.interrupt();
    expect((await serving.end()).code).toBe(0);
    await expectAllGone(folder, pids);
  });

  it('uses the orchestrator and the nodes that are there, and leaves them there', async () => {
    const cluster = await Cluster.start(['alpha', 'beta'], { ownWorkers: true });
    const data = join(cluster.folder, 'orchestrator');
    const words = ['up', cluster.model, '--stages', '2', '--engine', 'fixture'];
    const serving = new Child(words, { STAGEPLANE_DATA: data });
    await serving.shown('stdout', 'Ctrl-C');
    expect(serving.stdout).toMatch(/stage 1 on (alpha|beta) {2}READY/);
    expect(endpointOf(serving)).toBe(`http://${cluster.http}/v1`);
    expect(descendantsOf(serving.process.pid!)).toEqual([]);
    serving.interrupt();
    expect((await serving.end()).code).toBe(0);
    const { nodes } = await unaryCall(cluster.client, Service.listNodes, { pageSize: 0, pageToken: '' });
    expect(nodes).toHaveLength(2);
    expect(await cluster.end()).toEqual([]);
  });

  it('says in one sentence what keeps it from serving', async () => {
    const { folder, model, up, plain } = await home();
    const missing = await plain('up', join(folder, 'none.gguf'));
    expect(missing).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^stageplane: .*none\.gguf.*\n$/),
    });
    writeFileSync(join(folder, 'text.gguf'), 'no model');
    expect((await plain('up', join(folder, 'text.gguf'))).stderr).toMatch(/^stageplane: .*text\.gguf.*\n$/);

    const squatter = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => squatter.once('listening', resolve));
    const { port } = squatter.address() as { port: number };
    const taken = await plain('up', model, '--listen', '127.0.0.1:0', '--http', `127.0.0.1:${port}`);
    squatter.close();
    expect(taken).toMatchObject({ code: 1, stderr: expect.stringContaining(`127.0.0.1:${port}`) });
    expect(taken.stderr).toMatch(
      /^stageplane: the orchestrator ended before it was ready: .* its log is \S+orchestrator\.log\n$/,
    );

    const tooLarge = up('--context', '2000000', '--sessions', '4000');
    const { code, stderr } = await tooLarge.end();
    expect([code, stderr]).toEqual([3, expect.stringMatching(/^stageplane: the plan was rejected, /)]);
    expect(leftovers(folder, [])).toEqual([]);
  });
});
