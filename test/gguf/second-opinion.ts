import { GGMLQuantizationType, GGUFValueType, gguf } from '@huggingface/gguf';
import { expect } from 'vitest';
import { openFileSource } from '../../src/gguf/byte-source.js';
import type { MetadataValue } from '../../src/gguf/metadata.js';
import { type GgufHeader, readHeader } from '../../src/gguf/read-header.js';

/** Reads the whole header of a file, vocabulary included. */
export async function headerOf(path: string): Promise<GgufHeader> {
  const opened = await openFileSource(path);
  if (opened.kind === 'refused') throw opened.error;
  const read = await readHeader(opened.source, { keep: () => true });
  await opened.source.close();
  if (read.kind === 'refused') throw read.error;
  return read.header;
}

/** Asserts that @huggingface/gguf reads the same from a file: version, every key with its type, every tensor. */
export async function expectSecondOpinion(path: string, expected: { alignment?: number } = {}): Promise<void> {
  const ours = await headerOf(path);
  const theirs = await gguf(path, { allowLocalFile: true, typedMetadata: true });
  const { version, tensor_count, kv_count, ...entries } = theirs.typedMetadata;
  expect(version.value).toBe(ours.version);
  expect(Number(tensor_count.value)).toBe(ours.tensors.length);
  expect(Number(kv_count.value)).toBe(ours.metadata.entries.size);
  expect(Object.keys(entries)).toEqual([...ours.metadata.entries.keys()]);
  for (const [key, entry] of Object.entries(entries)) {
    const { type, value } = plain(ours.metadata.entries.get(key)!);
    expect([key, GGUFValueType[entry!.type].toLowerCase()]).toEqual([key, type]);
    if (Array.isArray(value)) expectSameItems(key, value, entry!.value as unknown[]);
    else expect([key, entry!.value]).toEqual([key, value]);
  }
  expect(ours.alignment).toBe(expected.alignment ?? 32);
  expect(ours.tensors.map(({ name, type, dims, offset }) => ({ name, type, dims: dims.map(String), offset }))).toEqual(
    theirs.tensorInfos.map(({ name, dtype, shape, offset }) => ({
      name,
      type: GGMLQuantizationType[dtype],
      dims: shape.map(String),
      offset: Number(theirs.tensorDataOffset + offset),
    })),
  );
}

function plain(value: MetadataValue): { type: string; value: unknown } {
  switch (value.kind) {
    case 'number':
      return { type: value.type, value: value.value };
    case 'string':
      return { type: 'string', value: value.value };
    case 'long-string':
      return { type: 'string', value: undefined };
    case 'strings':
      return { type: 'array', value: value.items };
    case 'numbers': {
      const items: Iterable<number | bigint> = value.items!;
      return { type: 'array', value: Array.from(items, (item) => (value.type === 'bool' ? item === 1 : Number(item))) };
    }
  }
}

/** Item by item, since deep equality on hundreds of thousands of strings is slow and its report endless. */
function expectSameItems(key: string, ours: readonly unknown[], theirs: readonly unknown[]): void {
  expect([key, theirs.length]).toEqual([key, ours.length]);
  const different = ours.findIndex(
    (item, index) => item !== comparable(theirs[index]) && withoutMark(item) !== theirs[index],
  );
  expect([key, different, ours[different]]).toEqual([key, -1, undefined]);
}

function comparable(item: unknown): unknown {
  return typeof item === 'bigint' ? Number(item) : item;
}

/** The other reader takes a byte order mark off the front of a string, even where the mark is the token. */
function withoutMark(item: unknown): unknown {
  return typeof item === 'string' ? item.replace(/^\ufeff/, '') : item;
}
