import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { afterAll, describe, expect, it } from 'vitest';
import { RunPhase } from '../../../gen/stageplane/v1/run.js';
import { writeTinyModel } from '../../../src/gguf/tiny-model.js';
import { findLlamaPackage } from '../../../src/worker/engine/llama/llama-package.js';
import { Cluster } from '../../e2e/cluster.js';
import { watchUntil } from '../../support/running-orchestrator.js';

const chatTemplate =
  "{% for message in messages %}{{ '[' + message.role + '] ' + message.content + eos_token }}{% endfor %}[assistant] ";
const folder = mkdtempSync(join(tmpdir(), 'sp-'));
afterAll(() => rmSync(folder, { recursive: true }));
const [file] = await writeTinyModel(join(folder, 'tiny.gguf'), { layers: 4, chatTemplate, name: 'Tiny Chat' });
const cluster = await Cluster.start(['alpha', 'beta'], { model: file, ownWorkers: true, finished: afterAll });
afterAll(async () => expect(await cluster.end()).toEqual([]));

const client = () => new OpenAI({ baseURL: `http://${cluster.http}/v1`, apiKey: 'none', maxRetries: 0 });
const model = 'Tiny Chat';
const messages: OpenAI.ChatCompletionMessageParam[] = [
  { role: 'developer', content: 'be brief' },
  {
    role: 'user',
    content: [
      { type: 'text', text: 'the old' },
      { type: 'text', text: 'lighthouse' },
    ],
  },
  { role: 'assistant', content: 'yes' },
  { role: 'user', content: 'and then' },
];

describe.runIf(findLlamaPackage().kind === 'found')('chat completions with llama.cpp', () => {
  it('say whole and in a stream the same, by the chat template of the model', async () => {
    const settings = { engine: 'llama.cpp', threads: 1, contextLength: 256 };
    await watchUntil(cluster.client, await cluster.create('chat', 2, settings), RunPhase.RUN_PHASE_RUNNING);
    const whole = await client().chat.completions.create({ model, messages, max_completion_tokens: 8 });
    expect(whole).toMatchObject({
      id: expect.stringMatching(/^chatcmpl-/),
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant', refusal: null }, finish_reason: 'length' }],
      usage: { completion_tokens: 8 },
    });
    const said = whole.choices[0]!.message.content!;
    expect(said).not.toBe('');
    const asked = { model, messages, max_tokens: 8, temperature: 2, top_p: 0 };
    expect((await client().chat.completions.create(asked)).choices).toEqual(whole.choices);

    const stream = await client().chat.completions.create({ model, messages, max_tokens: 8, stream: true });
    const deltas: OpenAI.ChatCompletionChunk.Choice[] = [];
    for await (const { object, choices } of stream) {
      expect(object).toBe('chat.completion.chunk');
      deltas.push(...choices);
    }
    expect(deltas[0]).toMatchObject({ delta: { role: 'assistant', content: '' }, finish_reason: null });
    expect(deltas.at(-1)).toMatchObject({ delta: {}, finish_reason: 'length' });
    expect(deltas.map(({ delta }) => delta.content ?? '').join('')).toBe(said);

    const prompt =
      '[system] be brief</s>[user] the old\nlighthouse</s>[assistant] yes</s>[user] and then</s>[assistant] ';
    expect(whole.usage!.prompt_tokens).toBeLessThan(Buffer.byteLength(prompt));
    const oneMessage = await client().chat.completions.create({ model, messages: messages.slice(0, 1), max_tokens: 8 });
    expect(oneMessage.usage!.prompt_tokens).toBeLessThan(whole.usage!.prompt_tokens);
  });

  it('are refused for what nobody here can read', async () => {
    const refused = async (more: object, expected: object) =>
      expect(
        client().chat.completions.create({ model, messages, ...more } as OpenAI.ChatCompletionCreateParamsNonStreaming),
      ).rejects.toMatchObject({ status: 400, type: 'invalid_request_error', ...expected });
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,' } };
    await refused({ messages: [] }, { param: 'messages' });
    await refused({ messages: [{ role: 'tool', content: 'x' }] }, { param: 'messages[0].role' });
    await refused({ messages: [{ role: 'user', content: [image] }] }, { param: 'messages[0].content[0]' });
    await refused({ tools: [{ type: 'function', function: { name: 'f' } }] }, { param: 'tools' });
    await refused({ response_format: { type: 'json_object' } }, { param: 'response_format' });
    await refused({ logprobs: true }, { param: 'logprobs', code: 'unsupported_value' });
    await refused(
      { messages: [{ role: 'user', content: 'so much '.repeat(200) }] },
      { code: 'context_length_exceeded' },
    );
  });
});
