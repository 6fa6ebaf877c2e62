import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TokenizerKind } from '../../gen/stageplane/v1/token_endpoint.js';
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
  const [modelPath] = await writeTinyModel(join(folder, 'tiny.gguf'), { layers: 4, hidden: 64 });
  model = { modelPath, totalLayers: 4, hiddenDim: 64 };
});
afterAll(async () => {
  delete process.env[SLICE_FOLDER];
  await rm(folder, { recursive: true });
});

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

describe.skipIf(findLlamaPackage().kind === 'refused')('stages of llama.cpp', () => {
  test('three say what one says', async () => {
    const one = await converse([]);
    expect(await converse([1, 3])).toEqual(one);
    expect(one.every(({ tokenIds }) => tokenIds.length > 0)).toBe(true);
  });
});
