import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { WritableValue } from '../../src/gguf/encode-header.js';
import { type GgufModel, openModel } from '../../src/gguf/open-model.js';
import { stageTensors } from '../../src/gguf/stage-tensors.js';
import { writeTinyModel } from '../../src/gguf/tiny-model.js';
import { writeGguf } from '../../src/gguf/write-gguf.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { writeRealModel } from './real-model.js';

const folder = temporaryFolder(afterAll);

async function opened(path: string): Promise<GgufModel> {
  const result = await openModel(path);
  if (result.kind === 'refused') throw result.error;
  return result.model;
}

const namesOf = (...stage: Parameters<typeof stageTensors>) => stageTensors(...stage).map(({ name }) => name);
const first = { first: true, last: false };
const middle = { first: false, last: false };
const last = { first: false, last: true };

/** Layers 0, 1 and 10, a multi-token-prediction layer, an embedding, a head and a global. */
async function writeSmall(name: string, tensors: string[]): Promise<GgufModel> {
  const path = join(folder, name);
  const uint32 = (value: number): WritableValue => ({ type: 'uint32', value });
  await writeGguf(path, {
    metadata: [
      ['general.architecture', { type: 'string', value: 'glm4moe' }],
      ['glm4moe.block_count', uint32(12)],
      ['glm4moe.nextn_predict_layers', uint32(1)],
    ],
    tensors: tensors.map((tensor) => ({ name: tensor, type: 'F32', dims: [8], data: () => [new Uint8Array(32)] })),
  });
  return opened(path);
}

describe('a stage gets', () => {
  const layers = ['blk.0.x', 'blk.1.x', 'blk.10.x', 'blk.11.nextn.x'];

  it('its layers and the globals, and at the ends embedding and head, but no prediction layer', async () => {
    const model = await writeSmall('ends.gguf', [
      'token_embd.weight',
      'token_embd_norm.weight',
      'rope_freqs.weight',
      ...layers,
      'output_norm.weight',
      'output.weight',
    ]);
    expect(model.numLayers).toBe(11);
    expect(namesOf(model, 0, 1, first)).toEqual([
      'token_embd.weight',
      'token_embd_norm.weight',
      'rope_freqs.weight',
      'blk.0.x',
    ]);
    expect(namesOf(model, 1, 10, middle)).toEqual(['rope_freqs.weight', 'blk.1.x']);
    expect(namesOf(model, 10, 11, last)).toEqual([
      'rope_freqs.weight',
      'blk.10.x',
      'output_norm.weight',
      'output.weight',
    ]);
  });

  it('the embedding again at the end when the head is tied, but once when it is the only stage', async () => {
    const model = await writeSmall('tied.gguf', ['token_embd.weight', ...layers, 'output_norm.weight']);
    expect(model.tied).toBe(true);
    expect(namesOf(model, 10, 11, last)).toEqual(['token_embd.weight', 'blk.10.x', 'output_norm.weight']);
    expect(namesOf(model, 0, 11, { first: true, last: true })).toEqual([
      'token_embd.weight',
      'blk.0.x',
      'blk.1.x',
      'blk.10.x',
      'output_norm.weight',
    ]);
  });
});

it('the stages of a real split model hold every tensor exactly once', async () => {
  const [path] = writeRealModel('deepseek', folder);
  const model = await opened(path!);
  const cuts = [0, 3, 20, 21, 61];
  const names = cuts
    .slice(1)
    .flatMap((end, stage) => namesOf(model, cuts[stage]!, end, { first: stage === 0, last: end === 61 }));
  expect(names).toHaveLength(1025);
  expect(new Set(names)).toEqual(new Set(model.tensors.map(({ name }) => name)));
});

it('the place of a tensor is where its bytes are, in one file or in several', async () => {
  const bytesOf = (model: GgufModel) =>
    model.tensors.map(({ path, offset, bytes }) => readFileSync(path).subarray(offset, offset + bytes));
  const whole = bytesOf(await opened((await writeTinyModel(join(folder, 'whole.gguf')))[0]));
  const split = bytesOf(await opened((await writeTinyModel(join(folder, 'parts.gguf'), { shards: 4 }))[0]));
  expect(Buffer.concat(split).equals(Buffer.concat(whole))).toBe(true);
});
