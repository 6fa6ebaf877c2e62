import { copyFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { WritableValue } from '../../src/gguf/encode-header.js';
import type { GgufError } from '../../src/gguf/gguf-error.js';
import { type GgufModel, openModel } from '../../src/gguf/open-model.js';
import { writeTinyModel } from '../../src/gguf/tiny-model.js';
import { writeGguf } from '../../src/gguf/write-gguf.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { MemorySource } from './memory-source.js';

const folder = temporaryFolder(afterAll);

async function opened(path: string): Promise<GgufModel> {
  const result = await openModel(path);
  if (result.kind === 'refused') throw result.error;
  return result.model;
}

async function refusalOf(path: string): Promise<GgufError> {
  const result = await openModel(path);
  if (result.kind === 'opened') throw new Error(`${path} was accepted`);
  return result.error;
}

/** Writes a file with one small tensor per name. */
function writeModel(path: string, metadata: Record<string, WritableValue>, names: string[] = []): Promise<number> {
  return writeGguf(path, {
    metadata: Object.entries(metadata),
    tensors: names.map((name) => ({ name, type: 'F32', dims: [8], data: () => [new Uint8Array(32)] })),
  });
}

const text = (value: string): WritableValue => ({ type: 'string', value });
const uint16 = (value: number): WritableValue => ({ type: 'uint16', value });
const uint32 = (value: number): WritableValue => ({ type: 'uint32', value });
const modelKeys = { 'general.architecture': text('llama'), 'llama.block_count': uint32(2) };
const splitKeys = (no: number, count: number, tensors: number) => ({
  'split.no': uint16(no),
  'split.count': uint16(count),
  'split.tensors.count': { type: 'int32', value: tensors } as WritableValue,
});

describe('a split model', () => {
  let paths: string[];
  beforeEach(async () => {
    paths = await writeTinyModel(join(folder, 'split.gguf'), { shards: 3 });
  });

  it('is opened by its first shard and has the tensors of all, each at its place', async () => {
    const [single] = await writeTinyModel(join(folder, 'single.gguf'));
    const [whole, split] = [await opened(single), await opened(paths[0]!)];
    const outline = (model: GgufModel) =>
      model.tensors.map(({ name, type, dims, bytes }) => ({ name, type, dims, bytes }));
    expect(outline(split)).toEqual(outline(whole));
    expect(split.shardCount).toBe(3);
    expect(new Set(split.tensors.map(({ path }) => path))).toEqual(new Set(paths));
    expect(split.digest).not.toBe(whole.digest);
  });

  it('given by another shard names the first one', async () => {
    const error = await refusalOf(paths[1]!);
    expect(error.kind).toBe('not-first-shard');
    expect(error.message).toContain('shard 2 of 3');
    expect(error.message).toContain(paths[0]);
  });

  it('names the shard that is missing', async () => {
    rmSync(paths[2]!);
    const error = await refusalOf(paths[0]!);
    expect(error).toMatchObject({ kind: 'missing-shard', message: expect.stringContaining(paths[2]!) });
  });

  it('must keep its names', async () => {
    const renamed = join(folder, 'renamed.gguf');
    copyFileSync(paths[0]!, renamed);
    expect(await refusalOf(renamed)).toMatchObject({
      kind: 'bad-shard-name',
      message: expect.stringContaining('-00001-of-00003.gguf'),
    });
    renameSync(paths[1]!, paths[0]!);
    expect((await refusalOf(paths[0]!)).kind).toBe('bad-shard-name');
  });

  it('of more shards than there may be is refused before any is looked for', async () => {
    const first = join(folder, 'many-00001-of-65535.gguf');
    await writeModel(first, { ...modelKeys, ...splitKeys(0, 65_535, 2) });
    expect(await refusalOf(first)).toMatchObject({
      kind: 'bad-value',
      message: expect.stringContaining('split.count'),
    });
  });

  it('refuses a shard that is not the one its name says', async () => {
    copyFileSync(paths[1]!, paths[2]!);
    expect(await refusalOf(paths[0]!)).toMatchObject({ kind: 'shard-mismatch' });
    await writeTinyModel(paths[2]!);
    expect(await refusalOf(paths[0]!)).toMatchObject({ kind: 'shard-mismatch' });
  });
});

describe('shards', () => {
  it('may leave the first one without tensors', async () => {
    const [first, second] = [join(folder, 'empty-00001-of-00002.gguf'), join(folder, 'empty-00002-of-00002.gguf')];
    await writeModel(first, { ...modelKeys, ...splitKeys(0, 2, 2) });
    await writeModel(second, splitKeys(1, 2, 2), ['blk.0.a', 'blk.1.a']);
    expect((await opened(first)).tensors.map(({ path }) => path)).toEqual([second, second]);
  });

  it('must hold as many tensors together as the first one says', async () => {
    const [first, second] = [join(folder, 'sum-00001-of-00002.gguf'), join(folder, 'sum-00002-of-00002.gguf')];
    await writeModel(first, { ...modelKeys, ...splitKeys(0, 2, 3) }, ['blk.0.a']);
    await writeModel(second, splitKeys(1, 2, 3), ['blk.1.a']);
    expect(await refusalOf(first)).toMatchObject({
      kind: 'shard-mismatch',
      message: expect.stringMatching(/3 tensors.*hold 2/),
    });
  });

  it('must not repeat a tensor', async () => {
    const [first, second] = [join(folder, 'twice-00001-of-00002.gguf'), join(folder, 'twice-00002-of-00002.gguf')];
    await writeModel(first, { ...modelKeys, ...splitKeys(0, 2, 2) }, ['blk.0.a']);
    await writeModel(second, splitKeys(1, 2, 2), ['blk.0.a']);
    expect(await refusalOf(first)).toMatchObject({ kind: 'duplicate-tensor', tensor: 'blk.0.a' });
  });

  it('without a number, or more of them than there may be', async () => {
    const path = join(folder, 'odd-00001-of-00002.gguf');
    await writeModel(path, { ...modelKeys, 'split.count': uint16(2) });
    expect(await refusalOf(path)).toMatchObject({ kind: 'missing-key', key: 'split.no' });
    await writeModel(path, { ...modelKeys, 'split.count': uint16(65_535), 'split.no': uint16(0) });
    expect(await refusalOf(path)).toMatchObject({ kind: 'bad-value', key: 'split.count' });
  });

  it('a file with a shard name but no split keys is whole', async () => {
    const path = join(folder, 'alone-00002-of-00003.gguf');
    await writeModel(path, modelKeys, ['blk.0.a']);
    expect((await opened(path)).shardCount).toBe(1);
  });
});

describe('keys', () => {
  const path = join(folder, 'keys.gguf');
  const refusalOfKeys = async (metadata: Record<string, WritableValue>) => {
    await writeModel(path, metadata);
    return refusalOf(path);
  };

  it('that every model needs', async () => {
    expect(await refusalOfKeys({})).toMatchObject({ kind: 'missing-key', key: 'general.architecture' });
    expect(await refusalOfKeys({ 'general.architecture': text('clip') })).toMatchObject({
      kind: 'missing-key',
      key: 'clip.block_count',
    });
  });

  it('of the wrong type or out of range', async () => {
    const architecture = { 'general.architecture': text('llama') };
    expect(await refusalOfKeys({ 'general.architecture': uint32(1) })).toMatchObject({ kind: 'bad-value' });
    for (const blocks of [text('32'), uint32(0), uint32(2 ** 32 - 1), { type: 'float32', value: 1.5 } as const]) {
      const error = await refusalOfKeys({ ...architecture, 'llama.block_count': blocks });
      expect(error).toMatchObject({ kind: 'bad-value', key: 'llama.block_count' });
    }
    const error = await refusalOfKeys({ ...modelKeys, 'llama.nextn_predict_layers': uint32(2) });
    expect(error).toMatchObject({ kind: 'bad-value', key: 'llama.nextn_predict_layers' });
  });

  it.each(['adapter', 'mmproj', 'imatrix'])("a file with a model's %s is not the model", async (type) => {
    expect(await refusalOfKeys({ ...modelKeys, 'general.type': text(type) })).toMatchObject({ kind: 'not-a-model' });
  });
});

it('closes each source, also when it refuses', async () => {
  const source = new MemorySource(Buffer.from('GGUF'));
  const result = await openModel('any', { open: async () => ({ kind: 'opened', source }) });
  expect(result.kind).toBe('refused');
  expect(source.closed).toBe(1);
});
