import { limits } from '../core/limits.js';
import { type TensorTypeName, tensorBytes, tensorTypeName, tensorTypes } from '../core/tensors/tensor-type.js';
import type { HeaderCursor } from './header-cursor.js';
import { readName } from './read-metadata.js';

/** One row of the tensor table, checked as far as it can be alone. */
export interface TensorRow {
  /** Under 64 bytes. */
  readonly name: string;
  readonly type: TensorTypeName;
  /** 1 to 4 extents, fastest first, each at least 1. */
  readonly dims: readonly number[];
  /** Bytes from the start of the tensor data; a multiple of the alignment once `placeTensors` agreed. */
  readonly relativeOffset: number;
  /** Bytes without padding. */
  readonly bytes: bigint;
}

/** ggml keeps names in 64 bytes, the closing zero included. */
const NAME_BYTES = 63;
const MOST_DIMS = 4;
/** Least bytes of one row: a one-byte name, the dimension count, one extent, type and offset. */
const LEAST_ROW_BYTES = 4 + 1 + 4 + 4 + 4 + 8;

/** Reads `count` rows: names unique and short, extents positive, types known, rows whole blocks. */
export async function readTensorTable(cursor: HeaderCursor, count: number): Promise<TensorRow[]> {
  cursor.place = { what: 'its tensor table' };
  if (count > limits.ggufTensors) throw cursor.error('too-large', `has ${count} tensors`);
  if (count * LEAST_ROW_BYTES > cursor.remaining) {
    throw cursor.error('truncated', `is too short for its ${count} tensors`);
  }
  const names = new Set<string>();
  const rows: TensorRow[] = [];
  for (let index = 0; index < count; index++) {
    cursor.place = { what: `row ${index} of its tensor table` };
    const name = await readName(cursor, NAME_BYTES);
    cursor.place = { what: 'tensor', tensor: name };
    if (names.has(name)) throw cursor.error('duplicate-tensor', 'has a tensor twice');
    names.add(name);
    rows.push(await readRow(cursor, name));
  }
  return rows;
}

async function readRow(cursor: HeaderCursor, name: string): Promise<TensorRow> {
  const dims = await readDims(cursor);
  const id = await cursor.uint32();
  const type = tensorTypeName(id);
  if (type === undefined) {
    throw cursor.error('unknown-tensor-type', `uses tensor type ${id}, which is unknown here or was removed from GGML`);
  }
  if (dims[0]! % tensorTypes[type].block !== 0) {
    throw cursor.error('bad-dims', `has rows of ${dims[0]}, not whole ${type} blocks of ${tensorTypes[type].block}`);
  }
  return {
    name,
    type,
    dims,
    relativeOffset: await cursor.uint64(),
    bytes: tensorBytes(type, dims),
  };
}

async function readDims(cursor: HeaderCursor): Promise<number[]> {
  const count = await cursor.uint32();
  if (count < 1 || count > MOST_DIMS) throw cursor.error('bad-dims', `has ${count} dimensions, not 1 to ${MOST_DIMS}`);
  const dims: number[] = [];
  while (dims.length < count) {
    const extent = await cursor.length();
    if (extent < 1 || !Number.isSafeInteger(extent)) throw cursor.error('bad-dims', `has an extent of ${extent}`);
    dims.push(extent);
  }
  return dims;
}
