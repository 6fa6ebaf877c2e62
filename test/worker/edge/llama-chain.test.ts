import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeTinyModel } from '../../../src/gguf/tiny-model.js';
import { findLlamaPackage } from '../../../src/worker/engine/llama/llama-package.js';
import { SLICE_FOLDER } from '../../../src/worker/engine/llama/slice-settings.js';
import { type ChainModel, MICRO_BATCH, StageChain } from './stage-chain.js';
import { tokenBytes } from './token-endpoint.js';

let folder: string;
let model: ChainModel;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stageplane-llama-chain-'));
  process.env[SLICE_FOLDER] = join(folder, 'slices');
  const [modelPath] = await writeTinyModel(join(folder, 'tiny.gguf'), { layers: 4, hidden: 64 });
  model = { modelPath, totalLayers: 4, hiddenDim: 64 };
});
afterAll(async () => {
  delete process.env[SLICE_FOLDER];
  await rm(folder, { recursive: true });
});

const prompts = [9, 20].map((length, which) =>
  Array.from({ length }, (_, index) => (index * 37 + which * 11 + 5) % 256),
);
const COUNT = 8;

/** Two conversations at once; each goes back to its fifth token and says the rest again. */
async function converse(cuts: readonly number[]): Promise<number[][]> {
  const chain = await StageChain.start(model, cuts, { engine: 'llama.cpp' });
  const { endpoint } = chain;
  const conversations = prompts.map(async (prompt, index) => {
    const session = BigInt(index + 1);
    await endpoint.prompt(session, prompt, MICRO_BATCH);
    const tokens = await endpoint.follow(session, COUNT);
    const position = prompt.length + 4;
    expect(await endpoint.truncate(session, position)).toBe(position);
    await endpoint.send(session, 0, tokenBytes([tokens[4]!]));
    expect(await endpoint.follow(session, COUNT - 5)).toEqual(tokens.slice(5));
    await endpoint.release(session);
    return tokens;
  });
  const tokens = await Promise.all(conversations);
  await chain.stop();
  return tokens;
}

describe.skipIf(findLlamaPackage().kind === 'refused')('llama.cpp in one worker and in three', () => {
  test('says the same to two interleaved conversations', async () => {
    expect(await converse([1, 3])).toEqual(await converse([]));
  });
});
