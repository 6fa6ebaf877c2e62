import { setMaxListeners } from 'node:events';
import { dirname, join } from 'node:path';
import OpenAI from 'openai';
import { afterAll, describe, expect, it } from 'vitest';
import { RunPhase } from '../../../gen/stageplane/v1/run.js';
import { writeTinyModel } from '../../../src/gguf/tiny-model.js';
import { Cluster } from '../../e2e/cluster.js';
import { idle } from '../../e2e/idle.js';
import { getRun, watchUntil } from '../../support/running-orchestrator.js';

const { RUN_PHASE_RUNNING, RUN_PHASE_DONE } = RunPhase;
const cluster = await Cluster.start(['alpha', 'beta'], {
  ownWorkers: true,
  flags: ['--heartbeat', '500ms'],
  finished: afterAll,
});
afterAll(async () => expect(await cluster.end()).toEqual([]));

const model = 'stageplane-tiny';

/** The official client, which asks again by itself unless it is told not to. */
function client(maxRetries = 0): OpenAI {
  return new OpenAI({ baseURL: `http://${cluster.http}/v1`, apiKey: 'none', maxRetries });
}

type Settings = Parameters<Cluster['create']>[2];

async function serve(name: string, settings: Settings = {}, stages = 2, path = cluster.model): Promise<bigint> {
  const source = { source: { $case: 'localPath', value: path } } as const;
  const runId = await cluster.create(name, stages, settings, { model: source });
  await watchUntil(cluster.client, runId, RUN_PHASE_RUNNING);
  return runId;
}

async function gathered<Chunk>(stream: AsyncIterable<Chunk>): Promise<Chunk[]> {
  const chunks: Chunk[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}

const pause = () => new Promise((resolve) => setTimeout(resolve, 20));

const first = await serve('first', { sessions: 4 });

describe('completions', () => {
  it('are listed by model, and found by its name, its file and its run', async () => {
    const { data } = await client().models.list();
    expect(data).toMatchObject([{ id: model, object: 'model', owned_by: 'stageplane', context_length: 2048 }]);
    expect(Math.abs(data[0]!.created * 1000 - Date.now())).toBeLessThan(10 * 60_000);
    for (const name of [model, 'tiny', 'tiny.gguf', `run-${first}`, `${model}@run-${first}`]) {
      expect(await client().models.retrieve(name)).toMatchObject({ id: model, runs: [Number(first)] });
    }
    await expect(client().models.retrieve('gpt-4')).rejects.toMatchObject({
      status: 404,
      code: 'model_not_found',
      type: 'invalid_request_error',
      message: expect.stringContaining(`"${model}"`),
    });
  });

  it('say whole and in a stream the same, and what it cost', async () => {
    const asked = { model, prompt: 'Why is the sky blue?', max_tokens: 24 };
    const { data: whole, response } = await client().completions.create(asked).withResponse();
    expect(whole).toMatchObject({
      id: expect.stringMatching(/^cmpl-/),
      object: 'text_completion',
      model,
      choices: [{ index: 0, logprobs: null }],
      usage: { prompt_tokens: 20, total_tokens: 20 + whole.usage!.completion_tokens },
    });
    expect(response.headers.get('x-stageplane-run')).toBe(String(first));
    const fidelity = response.headers.get('x-stageplane-fidelity');
    expect(whole.system_fingerprint).toMatch(new RegExp(`^${fidelity}-fixture-[0-9a-f]{12}$`));
    const stream = await client().completions.create({
      ...asked,
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks = await gathered(stream);
    expect(chunks.map(({ choices }) => choices[0]?.text ?? '').join('')).toBe(whole.choices[0]!.text);
    const reasons = chunks.flatMap(({ choices }) => choices[0]?.finish_reason ?? []);
    expect(reasons).toEqual([whole.choices[0]!.finish_reason]);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { ...whole.usage } });
  });

  it('are sampled as each of them asks, by its seed, and end at its stop texts', async () => {
    const ask = async (more: object, prompt = 'Hello') => {
      const { choices } = await client().completions.create({ model, prompt, max_tokens: 24, ...more });
      return choices[0]!;
    };
    const hot = { temperature: 2, top_p: 0.99, presence_penalty: 0.5 };
    const seventh = await ask({ ...hot, seed: 7 });
    expect(await ask({ ...hot, seed: 7 })).toEqual(seventh);
    const others = await Promise.all([ask({ ...hot, seed: 8 }), ask(hot), ask(hot)]);
    expect(new Set([seventh, ...others].map(({ text }) => text)).size).toBe(4);
    const plain = await ask({});
    expect(await ask({ temperature: 0, top_k: -1, seed: -1 })).toEqual(plain);

    const stop = plain.text.slice(4, 6);
    const stopped = { ...plain, text: plain.text.slice(0, plain.text.indexOf(stop)), finish_reason: 'stop' };
    expect(await ask({ stop })).toEqual(stopped);
    expect(await ask({ stop: ['no such text', stop] })).toEqual(stopped);
  });

  it('are server-sent events as OpenAI sends them', async () => {
    const response = await fetch(`http://${cluster.http}/v1/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model, prompt: 'Hello', max_tokens: 4, stream: true }),
    });
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    const events = (await response.text()).split('\n\n');
    expect(events.pop()).toBe('');
    expect(events.pop()).toBe('data: [DONE]');
    for (const event of events) expect(JSON.parse(event.replace(/^data: /, ''))).not.toHaveProperty('usage');
  });

  it('are refused in the words of OpenAI when they cannot be given', async () => {
    const refused = async (more: object, expected: object) =>
      expect(
        client().completions.create({ model, prompt: 'Hello', ...more } as OpenAI.CompletionCreateParamsNonStreaming),
      ).rejects.toMatchObject({ status: 400, type: 'invalid_request_error', ...expected });
    await refused({ n: 2 }, { param: 'n', code: 'unsupported_value' });
    await refused({ prompt: '' }, { param: 'prompt' });
    await refused({ prompt: [1, 2] }, { param: 'prompt' });
    await refused({ max_tokens: 0 }, { param: 'max_tokens' });
    await refused({ temperature: 3 }, { param: 'temperature', message: expect.stringContaining('from 0 to 2') });
    await refused({ top_k: 1.5 }, { param: 'top_k' });
    await refused({ stop: ['a', 'b', 'c', 'd', 'e'] }, { param: 'stop' });
    await refused({ logit_bias: { 5: 1 } }, { param: 'logit_bias' });
    await refused({ prompt: '\ud800' }, { code: 'invalid_prompt' });
    await refused(
      { prompt: 'x'.repeat(2049) },
      {
        code: 'context_length_exceeded',
        message: expect.stringMatching(/2049 tokens.*context 2048/),
      },
    );
    const fine = { n: 1, tools: [], logit_bias: {}, user: 'me', response_format: { type: 'text' }, novel: true };
    await client().completions.create({ model, prompt: 'Hello', max_tokens: 1, ...fine });
  });

  it('end in every stage when the client goes away', async () => {
    const asked = { model, prompt: 'a very long story', max_tokens: 2000 };
    for await (const _chunk of await client().completions.create({ ...asked, stream: true })) break;
    await idle(cluster.client, first);
    const abort = new AbortController();
    const whole = client().completions.create(asked, { signal: abort.signal });
    while (!(await getRun(cluster.client, first)).textLoad?.runningAnswers) await pause();
    abort.abort();
    await expect(whole).rejects.toThrow(OpenAI.APIUserAbortError);
    await idle(cluster.client, first);
  });

  it('go to the least busy of the runs that serve one model, and not to another of the same name', async () => {
    const second = await serve('second', { sessions: 4 });
    const { data } = await client().models.list();
    expect(data).toMatchObject([{ id: model, runs: [Number(first), Number(second)] }]);
    const asked = { model, prompt: 'Hello', max_tokens: 200 };
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => client().completions.create(asked).withResponse()),
    );
    const runs = answers.map(({ response }) => response.headers.get('x-stageplane-run'));
    expect(runs.sort()).toEqual([first, first, second, second].map(String));

    const path = join(dirname(cluster.model), 'other.gguf');
    await writeTinyModel(path, { seed: 2 });
    const other = await serve('other', {}, 1, path);
    const listed = (await client().models.list()).data;
    expect(listed.map(({ id }) => id)).toEqual([model, `${model}@run-${other}`]);
    expect(await client().models.retrieve('other')).toMatchObject({ runs: [Number(other)] });
    expect(await client().models.retrieve(model)).toMatchObject({ runs: [Number(first), Number(second)] });
  });

  it('are refused with 429 when too many wait already', async () => {
    const one = await serve('narrow', { sessions: 1 });
    const abort = new AbortController();
    setMaxListeners(300, abort.signal);
    const ask = (signal?: AbortSignal) =>
      client().completions.create({ model: `run-${one}`, prompt: 'long', max_tokens: 2000 }, { signal });
    const crowd = Array.from({ length: 257 }, () => ask(abort.signal).catch((error: unknown) => error));
    // One is answered, 256 wait, and one more is one too many.
    const refused = await Promise.race([...crowd, ask().catch((error: unknown) => error)]);
    if (!(refused instanceof OpenAI.RateLimitError)) throw refused;
    expect(refused).toMatchObject({ status: 429, code: 'rate_limit_exceeded' });
    expect(Number(refused.headers?.get('retry-after'))).toBeGreaterThan(0);
    abort.abort();
    await Promise.all(crowd);
    await idle(cluster.client, one);
  });

  it('name the stage that faults in the middle of an answer', async () => {
    const victim = await serve('victim');
    const pid = await cluster.workerOf(victim, 1);
    expect(pid).toBeGreaterThan(1);
    const stream = await client().completions.create({
      model: `run-${victim}`,
      prompt: 'tell me a long story',
      max_tokens: 2000,
      stream: true,
    });
    const read = (async () => {
      let isAlive = true;
      for await (const _chunk of stream) {
        if (isAlive) process.kill(pid, 'SIGKILL');
        isAlive = false;
      }
    })();
    await expect(read).rejects.toMatchObject({
      code: 'run_faulted',
      message: expect.stringMatching(/stage 1 on "\w+": WORKER_EXITED/),
    });
    await watchUntil(cluster.client, victim, RUN_PHASE_DONE);
    await expect(client().models.retrieve(`run-${victim}`)).rejects.toMatchObject({ code: 'model_not_found' });
  });

  it('are answered again after kill -9 of the orchestrator, by a client that just asks again', async () => {
    await cluster.kill('orchestrator', 'SIGKILL');
    await cluster.startOrchestrator(['--heartbeat', '500ms']);
    const { choices } = await client(20).completions.create({ model, prompt: 'Hello', max_tokens: 4 });
    expect(choices).toHaveLength(1);
  });
});
