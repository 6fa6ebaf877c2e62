import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ChatMessage, TokenizerKind } from '../../gen/stageplane/v1/token_endpoint.js';
import { writeTinyModel } from '../../src/gguf/tiny-model.js';
import { findLlamaPackage } from '../../src/worker/engine/llama/llama-package.js';
import { SLICE_FOLDER } from '../../src/worker/engine/llama/slice-settings.js';
import type { ChainModel } from '../worker/edge/stage-chain.js';
import { EndpointChain } from './endpoint-chain.js';
import type { WholeAnswer } from './endpoint-process.js';

let folder: string;
let model: ChainModel;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stageplane-llama-tokens-'));
  process.env[SLICE_FOLDER] = join(folder, 'slices');
  const [modelPath] = await writeTinyModel(join(folder, 'tiny.gguf'), { layers: 4, hidden: 64, chatTemplate });
  model = { modelPath, totalLayers: 4, hiddenDim: 64 };
});
afterAll(async () => {
  delete process.env[SLICE_FOLDER];
  await rm(folder, { recursive: true });
});

/** Begins as those of Llama do. */
const chatTemplate =
  "{{ bos_token }}{% for message in messages %}{{ '[' + message.role + '] ' + message.content + eos_token }}{% endfor %}" +
  "{% if add_generation_prompt %}{{ '[assistant] ' }}{% endif %}";

const COUNT = 12;
const said = ({ text, tokenIds }: WholeAnswer) => ({ text, tokenIds });

/** Three prompts at once, and a conversation of two turns; each turn as long as a fresh one says it. */
async function converse(cuts: readonly number[]) {
  const chain = await EndpointChain.start(model, cuts, { engine: 'llama.cpp' });
  const { endpoint } = chain;
  expect(await endpoint.heard('ready')).toEqual({ tokenizer: TokenizerKind.TOKENIZER_KIND_MODEL });
  const prompts = ['the tin', 'the tin lantern of the old lighthouse', 'naïve 日本 🦙'];
  const together = await Promise.all(
    prompts.map((prompt, index) => endpoint.answer(`t${index}`, prompt, { maxTokens: COUNT })),
  );
  const conversation = 'c';
  await endpoint.answer('c1', 'the old lighthouse', { maxTokens: 4, conversation });
  const second = await endpoint.answer('c2', 'the old lantern', { maxTokens: COUNT, conversation });
  const fresh = await endpoint.answer('fresh', 'the old lantern', { maxTokens: COUNT });
  expect(said(second)).toEqual(said(fresh));
  expect(second.done.reusedTokens).toBeGreaterThan(0);
  await chain.stop();
  return [...together, second].map(said);
}

/** A chat of two turns, and its second turn without the first. */
async function chat(cuts: readonly number[]) {
  const chain = await EndpointChain.start(model, cuts, { engine: 'llama.cpp' });
  const { endpoint } = chain;
  const user = (content: string): ChatMessage => ({ role: 'user', content });
  const opening = [{ role: 'system', content: 'be old' }, user('the tin lantern')];
  const conversation = 'c';
  const first = await endpoint.answer('first', '', { messages: opening, maxTokens: 4, conversation });
  const messages = [...opening, { role: 'assistant', content: first.text }, user('the lighthouse')];
  const second = await endpoint.answer('second', '', { messages, maxTokens: COUNT, conversation });
  const fresh = await endpoint.answer('fresh', '', { messages, maxTokens: COUNT });
  // Without its first token twice: what tokenizing adds is the same.
  const text = '[system] be old</s>[user] the tin lantern</s>[assistant] ';
  const written = await endpoint.answer('written', text, { maxTokens: 4, parseSpecial: true });
  await chain.stop();
  return { first, second, fresh, written };
}

describe.skipIf(findLlamaPackage().kind === 'refused')('stages of llama.cpp', () => {
  test('three say what one says', async () => {
    const one = await converse([]);
    expect(await converse([1, 3])).toEqual(one);
    expect(one.every(({ tokenIds }) => tokenIds.length > 0)).toBe(true);
  });

  test('say something else when two of them have changed places', async () => {
    const say = async (...ranges: [number, number][]) => {
      const chain = await EndpointChain.connect(model, ranges, { engine: 'llama.cpp' });
      const answer = await chain.endpoint.answer('1', 'the tin lantern', { maxTokens: COUNT });
      await chain.stop();
      return said(answer);
    };
    const whole = await say([0, 4]);
    expect(await say([0, 1], [1, 2], [2, 3], [3, 4])).toEqual(whole);
    expect(await say([0, 1], [2, 3], [1, 2], [3, 4])).not.toEqual(whole);
  });

  test('go on with a chat where they were', async () => {
    const { first, second, fresh, written } = await chat([1, 3]);
    expect(said(first)).toEqual(said(written));
    expect(first.done.promptTokens).toBe(written.done.promptTokens);
    expect(said(second)).toEqual(said(fresh));
    expect(second.done.reusedTokens).toBeGreaterThanOrEqual(first.done.promptTokens);
    expect(fresh.done.reusedTokens).toBe(0);
  });
});
