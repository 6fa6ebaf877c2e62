import { limits } from '../core/limits.js';
import type { HeaderCursor } from './header-cursor.js';
import type { MetadataValue } from './metadata.js';
import { type Numbers, type NumberType, numberTypes, type ValueType, valueTypes } from './value-type.js';

/** Least bytes of one pair: an empty key's length, the type and a one-byte value. */
const LEAST_PAIR_BYTES = 4 + 4 + 1;

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const lenient = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * Reads `count` key-value pairs. Long arrays and strings are measured and passed, not kept, unless `keep(key)`; their
 * types and lengths are checked all the same.
 */
export async function readMetadata(
  cursor: HeaderCursor,
  count: number,
  keep: (key: string) => boolean,
): Promise<Map<string, MetadataValue>> {
  cursor.place = { what: 'its metadata' };
  if (count > limits.ggufMetadataKeys) throw cursor.error('too-large', `has ${count} keys`);
  if (count * LEAST_PAIR_BYTES > cursor.remaining) {
    throw cursor.error('truncated', `is too short for its ${count} keys`);
  }
  const entries = new Map<string, MetadataValue>();
  for (let index = 0; index < count; index++) {
    cursor.place = { what: `metadata key ${index}` };
    const key = await readName(cursor, limits.ggufKeyBytes);
    cursor.place = { what: 'the value of', key };
    if (entries.has(key)) throw cursor.error('duplicate-key', 'has a key twice');
    entries.set(key, await readValue(cursor, keep(key)));
  }
  return entries;
}

/**
 * Reads a key or a tensor's name. Other programs will use it as a C string, so it must be non-empty UTF-8 without
 * control characters.
 */
export async function readName(cursor: HeaderCursor, maximumBytes: number): Promise<string> {
  const bytes = await cursor.string(maximumBytes, 'a name');
  if (bytes.length === 0) throw cursor.error('bad-name', 'has an empty name');
  if (bytes.some((byte) => byte < 0x20 || byte === 0x7f)) {
    throw cursor.error('bad-name', 'has a name with control characters');
  }
  try {
    return strict.decode(bytes);
  } catch {
    throw cursor.error('bad-name', 'has a name that is not UTF-8');
  }
}

async function readValue(cursor: HeaderCursor, keep: boolean): Promise<MetadataValue> {
  const type = await readValueType(cursor);
  switch (type) {
    case 'string':
      return readString(cursor, keep);
    case 'array':
      return readArray(cursor, keep);
    default:
      return { kind: 'number', type, value: await cursor.number(type) };
  }
}

async function readValueType(cursor: HeaderCursor): Promise<ValueType> {
  const id = await cursor.uint32();
  const type = valueTypes[id];
  if (type === undefined) {
    throw cursor.error('unknown-value-type', `uses value type ${id}, which no release of GGUF defines`);
  }
  return type;
}

async function readString(cursor: HeaderCursor, keep: boolean): Promise<MetadataValue> {
  const length = await cursor.length();
  if (length > limits.ggufKeptStringBytes && !keep) {
    await cursor.skip(length);
    return { kind: 'long-string', bytes: length };
  }
  // Names and templates are for people: a stray byte in them is shown as U+FFFD and refuses nothing.
  return { kind: 'string', value: lenient.decode(await cursor.bytes(length)) };
}

async function readArray(cursor: HeaderCursor, keep: boolean): Promise<MetadataValue> {
  const type = await readValueType(cursor);
  const length = await cursor.length();
  if (type === 'array') throw cursor.error('nested-array', 'has an array of arrays, which no engine reads');
  if (length > limits.ggufArrayElements) throw cursor.error('too-large', `has an array of ${length} elements`);
  if (type === 'string') return readStrings(cursor, length, keep);
  if (length <= limits.ggufLayers || keep) {
    return {
      kind: 'numbers',
      type,
      length,
      items: await readNumbers(cursor, type, length),
    };
  }
  await cursor.skip(length * numberTypes[type].bytes);
  return { kind: 'numbers', type, length, items: undefined };
}

async function readStrings(cursor: HeaderCursor, length: number, keep: boolean): Promise<MetadataValue> {
  if (length * cursor.lengthBytes > cursor.remaining) {
    throw cursor.error('truncated', `is too short for an array of ${length} strings`);
  }
  if (length > limits.ggufKeptStrings && !keep) {
    await cursor.skipStrings(length);
    return { kind: 'strings', length, items: undefined };
  }
  const items: string[] = [];
  await cursor.strings(length, (bytes) => items.push(lenient.decode(bytes)));
  return { kind: 'strings', length, items };
}

async function readNumbers(cursor: HeaderCursor, type: NumberType, length: number): Promise<Numbers> {
  const { bytes, get, array } = numberTypes[type];
  const data = await cursor.bytes(length * bytes);
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const items = array(length);
  for (let index = 0; index < length; index++) {
    const value = get(view, index * bytes);
    items[index] = typeof value === 'boolean' ? Number(value) : value;
  }
  return items;
}
