import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { limits } from '../../src/core/limits.js';
import { tensorTypes } from '../../src/core/tensors/tensor-type.js';
import { encodeHeader, type WritableHeader } from '../../src/gguf/encode-header.js';
import { type GgufHeader, readHeader } from '../../src/gguf/read-header.js';
import { writeTinyModel } from '../../src/gguf/tiny-model.js';
import { writeGguf } from '../../src/gguf/write-gguf.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { MemorySource } from './memory-source.js';
import { realHeaders, writeRealModel } from './real-model.js';
import { expectSecondOpinion, headerOf } from './second-opinion.js';

const folder = temporaryFolder(afterAll);
const realFile = (name: string) => fileURLToPath(new URL(`files/${name}`, import.meta.url));

async function accepted(source: MemorySource, keep?: (key: string) => boolean): Promise<GgufHeader> {
  const read = await readHeader(source, keep === undefined ? {} : { keep });
  if (read.kind === 'refused') throw read.error;
  return read.header;
}

describe('a second reader agrees on', () => {
  it.each([
    'vocab-llama-63bfaf67.gguf',
    'vocab-llama-spm-658295a5.gguf',
    'vocab-bert-bge-b2cbd5df.gguf',
    'vocab-phi-3-745be416.gguf',
  ])('%s', (name) => expectSecondOpinion(realFile(name)));

  it.each(Object.keys(realHeaders) as (keyof typeof realHeaders)[])('every shard of %s', async (name) => {
    for (const path of writeRealModel(name, folder)) await expectSecondOpinion(path);
  });

  it.each([1, 2, 3] as const)('a tiny model in version %i', async (version) => {
    const [path] = await writeTinyModel(join(folder, `tiny-v${version}.gguf`), { version });
    expect((await headerOf(path)).version).toBe(version);
    await expectSecondOpinion(path);
  });

  it.each([1, 3] as const)('every value and tensor type in version %i, with an alignment of 64', async (version) => {
    const path = join(folder, `all-types-v${version}.gguf`);
    await writeGguf(path, { ...everyType, version, tensors: everyTensor });
    await expectSecondOpinion(path, { alignment: 64 });
  });
});

describe('long values', () => {
  const words = Array.from({ length: limits.ggufKeptStrings + 1 }, (_, index) => `word ${index}`);
  const bytes = encodeHeader({
    metadata: [
      ['words', { type: 'array', elements: 'string', items: words }],
      ['template', { type: 'string', value: 'x'.repeat(limits.ggufKeptStringBytes + 1) }],
      ['scores', { type: 'array', elements: 'int8', items: new Array<number>(limits.ggufLayers + 1).fill(-1) }],
      ['after', { type: 'uint8', value: 7 }],
    ],
    tensors: [],
  });

  it('are measured but not kept', async () => {
    const source = new MemorySource(bytes);
    const { metadata } = await accepted(source);
    expect(metadata.entries.get('words')).toEqual({ kind: 'strings', length: words.length, items: undefined });
    expect(metadata.entries.get('template')).toEqual({ kind: 'long-string', bytes: limits.ggufKeptStringBytes + 1 });
    expect(metadata.entries.get('scores')).toMatchObject({ length: limits.ggufLayers + 1, items: undefined });
    expect(metadata.integer('after', 0, 255)).toBe(7);
    expect(source.totalRead).toBe(bytes.length);
  });

  it('are kept when asked for by key', async () => {
    const { metadata } = await accepted(new MemorySource(bytes), (key) => key === 'words' || key === 'template');
    expect(metadata.entries.get('words')).toMatchObject({ items: words });
    expect(metadata.text('template')).toHaveLength(limits.ggufKeptStringBytes + 1);
    expect(metadata.entries.get('scores')).toMatchObject({ items: undefined });
  });
});

describe('bytes', () => {
  it('up to the end of the table are given out once and in order, wherever the reads fall', async () => {
    const header = encodeHeader({
      metadata: [['words', { type: 'array', elements: 'string', items: new Array<string>(100_000).fill('a word') }]],
      tensors: [{ name: 't', type: 'F32', dims: [1] }],
    });
    const source = new MemorySource(Buffer.concat([header], header.length + 4));
    const seen: Uint8Array[] = [];
    const read = await readHeader(source, { onBytes: (bytes) => seen.push(Uint8Array.from(bytes)) });
    if (read.kind === 'refused') throw read.error;
    expect(Buffer.concat(seen).equals(header.subarray(0, read.header.tableEnd))).toBe(true);
    expect(source.largestRead).toBeLessThanOrEqual(1024 * 1024);
  });
});

const everyType: WritableHeader = {
  alignment: 64,
  metadata: [
    ['uint8', { type: 'uint8', value: 255 }],
    ['int8', { type: 'int8', value: -128 }],
    ['uint16', { type: 'uint16', value: 65_535 }],
    ['int16', { type: 'int16', value: -32_768 }],
    ['uint32', { type: 'uint32', value: 2 ** 32 - 1 }],
    ['int32', { type: 'int32', value: -(2 ** 31) }],
    ['uint64', { type: 'uint64', value: 2n ** 64n - 1n }],
    ['int64', { type: 'int64', value: -(2n ** 63n) }],
    ['float32', { type: 'float32', value: 0.5 }],
    ['float64', { type: 'float64', value: 0.1 }],
    ['bool', { type: 'bool', value: true }],
    ['string', { type: 'string', value: 'ein Gerät, 一个, \ud83d\ude00' }],
    ['empty string', { type: 'string', value: '' }],
    ['uint8s', { type: 'array', elements: 'uint8', items: [0, 255] }],
    ['int16s', { type: 'array', elements: 'int16', items: [-1, 1] }],
    ['uint64s', { type: 'array', elements: 'uint64', items: [1n, 2n] }],
    ['int64s', { type: 'array', elements: 'int64', items: [-1n, 2n] }],
    ['float64s', { type: 'array', elements: 'float64', items: [0.1, -2.5] }],
    ['bools', { type: 'array', elements: 'bool', items: [true, false] }],
    ['strings', { type: 'array', elements: 'string', items: ['', 'a', '▁b'] }],
    ['nothing', { type: 'array', elements: 'string', items: [] }],
  ],
  tensors: [],
};

const everyTensor = (Object.keys(tensorTypes) as (keyof typeof tensorTypes)[]).map((type) => {
  const { block, bytes } = tensorTypes[type];
  return { name: `a ${type}`, type, dims: [block, 3, 1, 2], data: () => [new Uint8Array(bytes * 6)] };
});
