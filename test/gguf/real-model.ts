import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { shardPath } from '../../src/core/model/shard-name.js';
import { tensorTypeName } from '../../src/core/tensors/tensor-type.js';
import { encodeHeader, type WritableTensor, type WritableValue } from '../../src/gguf/encode-header.js';
import { type NumberType, valueTypes } from '../../src/gguf/value-type.js';

/** A parsed header as the fixtures hold it; of arrays only type, length and size. */
export interface RealHeader {
  header: { metadataKV: { key: string; valueType: number; value: unknown }[] };
  tensorInfos: { name: string; dimensions: number[]; type: number; offset: number }[];
  splitTensorDataStartOffsets: number[];
  splitSizes: number[];
  modelSize: number;
}

interface ArrayShape {
  type: number;
  len: number;
  /** Bytes of all elements, lengths of strings included. */
  size: number;
}

type Metadata = [string, WritableValue][];

export const realHeaders = {
  llama8b: 'bartowski_Meta-Llama-3.1-8B-Instruct-GGUF-Q8_0.json',
  deepseek: 'unsloth_DeepSeek-R1-GGUF_DeepSeek-R1-Q8_0.json',
} as const;

export function readRealHeader(name: keyof typeof realHeaders): RealHeader {
  return JSON.parse(readFileSync(new URL(`headers/${realHeaders[name]}`, import.meta.url), 'utf8'));
}

/** Writes the files of a real model: the true header and size, but holes in place of the tensors. Gives their paths. */
export function writeRealModel(name: keyof typeof realHeaders, folder: string): string[] {
  const real = readRealHeader(name);
  const tables = splitTables(real.tensorInfos);
  const count = tables.length;
  return tables.map((tensors, no) => {
    const path = join(folder, count === 1 ? `${name}.gguf` : shardPath({ prefix: name, number: no + 1, count }));
    const metadata: Metadata = [
      ...(no === 0 ? modelMetadata(real) : []),
      ...(count === 1 ? [] : splitMetadata(no, count, real.tensorInfos.length)),
    ];
    writeFileSync(path, encodeHeader({ metadata, tensors }));
    truncateSync(path, real.splitSizes[no]!);
    return path;
  });
}

/** The tensors of each shard: a new shard begins where the offset is 0 again. */
function splitTables(infos: RealHeader['tensorInfos']): WritableTensor[][] {
  const tables: WritableTensor[][] = [];
  for (const { name, dimensions, type, offset } of infos) {
    if (offset === 0) tables.push([]);
    tables.at(-1)!.push({ name, type: tensorTypeName(type)!, dims: dimensions });
  }
  return tables;
}

function modelMetadata({ header }: RealHeader): Metadata {
  return header.metadataKV
    .filter(({ key }) => !key.startsWith('split.'))
    .map(({ key, valueType, value }) => [key, writable(valueType, value)]);
}

function splitMetadata(no: number, count: number, tensors: number): Metadata {
  return [
    ['split.no', { type: 'uint16', value: no }],
    ['split.count', { type: 'uint16', value: count }],
    ['split.tensors.count', { type: 'int32', value: tensors }],
  ];
}

function writable(valueType: number, value: unknown): WritableValue {
  const type = valueTypes[valueType]!;
  if (type === 'string') return { type, value: value as string };
  if (type !== 'array') return { type, value: value as number | boolean };
  const shape = value as ArrayShape;
  const elements = valueTypes[shape.type]!;
  if (elements !== 'string') {
    return { type, elements: elements as NumberType, items: new Array<number>(shape.len).fill(0) };
  }
  return { type, elements, items: stringsOfSize(shape) };
}

/** As many strings as the real array has, of as many bytes together. */
function stringsOfSize({ len, size }: ArrayShape): string[] {
  const letters = size - 8 * len;
  const each = Math.floor(letters / len);
  const longer = letters - each * len;
  return Array.from({ length: len }, (_, index) => 'x'.repeat(index < longer ? each + 1 : each));
}
