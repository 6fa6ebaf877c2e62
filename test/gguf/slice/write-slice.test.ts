import { createHash } from 'node:crypto';
import { readdir, readFile, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { type GgufModel, openModel } from '../../../src/gguf/open-model.js';
import { sliceRecipes } from '../../../src/gguf/slice/slice-recipes.js';
import { openForSlices, sliceBytes, writeSlice } from '../../../src/gguf/slice/write-slice.js';
import { stageTensors } from '../../../src/gguf/stage-tensors.js';
import { type TinyModelOptions, writeTinyModel } from '../../../src/gguf/tiny-model.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { smallArchitectures, writeArchitectureModel } from './architecture-model.js';

const folder = temporaryFolder(afterAll);
const LAYERS = 5;
const recipe = sliceRecipes.get('llama')!;

async function opened(path: string): Promise<GgufModel> {
  const outcome = await openForSlices(path);
  if (outcome.kind === 'refused') throw outcome.error;
  return outcome.model;
}

async function tiny(name: string, options: TinyModelOptions = {}): Promise<GgufModel> {
  const [path] = await writeTinyModel(join(folder, `${name}.gguf`), { layers: LAYERS, hidden: 32, ...options });
  return opened(path);
}

async function slice(model: GgufModel, start: number, end: number): Promise<GgufModel> {
  const path = join(folder, `slice-${start}-${end}.gguf`);
  const spec = { model, range: { start, end }, recipe: sliceRecipes.get(model.architecture)! };
  await writeSlice(path, spec);
  const written = await opened(path);
  expect(written.fileBytes).toBe(sliceBytes(spec));
  return written;
}

/** The bytes of each tensor, by name. */
async function contents(model: GgufModel): Promise<Map<string, string>> {
  const digests = new Map<string, string>();
  for (const { name, path, offset, bytes } of model.tensors) {
    const data = (await readFile(path)).subarray(offset, offset + bytes);
    digests.set(name, createHash('sha256').update(data).digest('hex'));
  }
  return digests;
}

/** Tensors of one row or of zeros, which stand in for what another stage has. */
const isFiller = ({ name, dims }: GgufModel['tensors'][number], last: boolean) =>
  !last && (name === 'output_norm.weight' || (name === 'token_embd.weight' && dims[1] === 1));

describe.each([
  ['untied', {}],
  ['tied', { tied: true }],
  ['of three shards', { shards: 3 }],
])('slices of a model that is %s', (name, options) => {
  test('hold the bytes of their own tensors and no others', async () => {
    const model = await tiny(`own-${name}`, options);
    const whole = await contents(model);
    const bounds = [0, 2, 3, LAYERS];
    const found: string[] = [];
    for (const [index, end] of bounds.slice(1).entries()) {
      const start = bounds[index]!;
      const part = await slice(model, start, end);
      const bytes = await contents(part);
      for (const tensor of part.tensors.filter((each) => !isFiller(each, end === LAYERS))) {
        const original = originalName(tensor.name, start, model.tied);
        expect(bytes.get(tensor.name), original).toBe(whole.get(original));
        found.push(original);
      }
    }
    // The first stage looks its embeddings up in the model; a tied head is stored with the last one.
    const expected = [...whole.keys()].filter((tensor) => model.tied || tensor !== 'token_embd.weight');
    expect(found.sort()).toEqual(expected.sort());
  });

  test('add up to the bytes of the model, with the table that the first stage looks up', async () => {
    const model = await tiny(`sum-${name}`, options);
    let sum = model.tied ? 0 : model.tensors.find((tensor) => tensor.name === 'token_embd.weight')!.bytes;
    for (const [start, end] of [
      [0, 1],
      [1, 4],
      [4, LAYERS],
    ] as const) {
      const part = await slice(model, start, end);
      sum += part.tensors
        .filter((each) => !isFiller(each, end === LAYERS))
        .reduce((total, { bytes }) => total + bytes, 0);
    }
    expect(sum).toBe(model.tensors.reduce((total, { bytes }) => total + bytes, 0));
  });
});

function originalName(name: string, start: number, tied: boolean): string {
  if (name === 'token_embd.weight') return tied ? name : 'output.weight';
  return name.replace(/^blk\.(\d+)/, (_, layer) => `blk.${Number(layer) + start}`);
}

test('a slice has the layers of its own range, a small vocabulary and no tokenizer', async () => {
  const part = await slice(await tiny('header'), 1, 4);
  expect(part.numLayers).toBe(3);
  expect(part.metadata.text('tokenizer.ggml.model')).toBe('none');
  expect([...part.metadata.entries.keys()].filter((key) => key.startsWith('tokenizer.'))).toHaveLength(1);
  expect(part.metadata.integer('llama.vocab_size', 0, 1000)).toBe(1);
  expect(part.tensors.find(({ name }) => name === 'token_embd.weight')!.dims).toEqual([32, 1]);
  expect(part.metadata.integer('llama.attention.head_count', 0, 100)).toBe(4);
});

test('the last slice has the whole vocabulary', async () => {
  const part = await slice(await tiny('vocabulary'), 4, LAYERS);
  expect(part.metadata.integer('llama.vocab_size', 0, 1000)).toBe(512);
});

test('arrays with one entry per layer are cut, others are not', async () => {
  const architecture = smallArchitectures.llama;
  const int32 = (items: number[]) => ({ type: 'array', elements: 'int32', items }) as const;
  const keys = {
    'attention.head_count_kv': int32([1, 2, 4, 2, 1, 2]),
    'rope.dimension_sections': int32([1, 2, 3, 4, 5, 6]),
    'some.other_array': int32([1, 2, 3]),
  };
  const path = await writeArchitectureModel(join(folder, 'arrays.gguf'), 'llama', { ...architecture, keys });
  const part = await slice(await opened(path), 2, 5);
  const items = (key: string) => {
    const value = part.metadata.entries.get(key);
    return value?.kind === 'numbers' ? [...value.items!] : undefined;
  };
  expect(items('llama.attention.head_count_kv')).toEqual([4, 2, 1]);
  expect(items('llama.rope.dimension_sections')).toEqual([1, 2, 3, 4, 5, 6]);
  expect(items('llama.some.other_array')).toEqual([1, 2, 3]);
});

test('keys that count layers or act where tokens come in are rewritten for later stages', async () => {
  const deepseek = await opened(
    await writeArchitectureModel(join(folder, 'deepseek2.gguf'), 'deepseek2', smallArchitectures.deepseek2),
  );
  for (const [start, left] of [
    [0, 3],
    [2, 1],
    [5, 0],
  ] as const) {
    const { metadata } = await slice(deepseek, start, 8);
    expect(metadata.integer('deepseek2.leading_dense_block_count', 0, 8)).toBe(left);
  }
  const granite = await opened(
    await writeArchitectureModel(join(folder, 'granite.gguf'), 'granite', smallArchitectures.granite),
  );
  const scaleOf = ({ metadata }: GgufModel) => metadata.entries.get('granite.embedding_scale');
  expect(scaleOf(await slice(granite, 0, 3))).toMatchObject({ type: 'float32', value: 3 });
  expect(scaleOf(await slice(granite, 3, 6))).toMatchObject({ type: 'float32', value: 1 });
});

test('an architecture that must have embedding and head gets zeros for the one, and the head under its own name', async () => {
  const path = join(folder, 'gpt-oss.gguf');
  const model = await opened(await writeArchitectureModel(path, 'gpt-oss', smallArchitectures['gpt-oss']));
  const rowsOf = ({ tensors }: GgufModel, name: string) => tensors.find((tensor) => tensor.name === name)!.dims[1];
  const last = await slice(model, 4, 8);
  expect((await contents(last)).get('output.weight')).toBe((await contents(model)).get('output.weight'));
  expect([rowsOf(last, 'token_embd.weight'), rowsOf(last, 'output.weight')]).toEqual([320, 320]);
  const first = await slice(model, 0, 4);
  expect([rowsOf(first, 'token_embd.weight'), rowsOf(first, 'output.weight')]).toEqual([1, 1]);
});

test('what llama.cpp must be told before it takes rows is added, and layers that no stage loads are left out', async () => {
  const path = join(folder, 'glm4moe.gguf');
  const model = await opened(await writeArchitectureModel(path, 'glm4moe', smallArchitectures.glm4moe));
  const part = await slice(model, 3, 6);
  expect(part.metadata.arrayLength('glm4moe.rope.dimension_sections')).toBe(4);
  expect(part.metadata.integer('glm4moe.nextn_predict_layers', 0, 9)).toBe(0);
  expect(part.numLayers).toBe(3);
  expect(part.tensors.some(({ name }) => name.includes('nextn') || name.startsWith('blk.3.'))).toBe(false);
});

test('gives the digest of exactly the bytes that the stage reads, in the order of the file', async () => {
  const model = await tiny('digest');
  const file = await readFile(model.path);
  for (const [start, end] of [
    [0, 2],
    [2, LAYERS],
  ] as const) {
    const hash = createHash('sha256');
    for (const { offset, bytes } of stageTensors(model, start, end, { first: start === 0, last: end === LAYERS })) {
      hash.update(file.subarray(offset, offset + bytes));
    }
    const digest = await writeSlice(join(folder, 'digest-slice.gguf'), { model, range: { start, end }, recipe });
    expect(digest).toBe(hash.digest('hex'));
  }
});

test('a model that became shorter leaves nothing behind, and the error names the tensor', async () => {
  const model = await tiny('shorter');
  await truncate(model.path, model.tensors.at(-1)!.offset);
  const path = join(folder, 'never.gguf');
  const written = writeSlice(path, { model, range: { start: 4, end: LAYERS }, recipe });
  await expect(written).rejects.toThrow(model.tensors.at(-1)!.name);
  expect((await readdir(folder)).filter((file) => file.startsWith('never'))).toEqual([]);
});

test('a slice that is ended by its signal leaves nothing behind', async () => {
  const model = await tiny('ended');
  let pieces = 0;
  const signal = {
    get aborted() {
      pieces += 1;
      return pieces > 3;
    },
  };
  const path = join(folder, 'ended-slice.gguf');
  await expect(writeSlice(path, { model, range: { start: 0, end: 3 }, recipe }, { signal })).rejects.toThrow();
  expect((await readdir(folder)).filter((file) => file.startsWith('ended-slice'))).toEqual([]);
});

test('a slice is a model that any reader of GGUF opens', async () => {
  const part = await slice(await tiny('valid', { version: 2 }), 0, 3);
  expect((await openModel(part.path)).kind).toBe('opened');
});
