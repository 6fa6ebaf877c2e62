/** Names of the metadata value types; the index is the id in the file. */
export const valueTypes = [
  'uint8',
  'int8',
  'uint16',
  'int16',
  'uint32',
  'int32',
  'float32',
  'bool',
  'string',
  'array',
  'uint64',
  'int64',
  'float64',
] as const;

export type ValueType = (typeof valueTypes)[number];
export type NumberType = Exclude<ValueType, 'string' | 'array'>;

/** uint64 and int64 are bigint, bool is boolean, all others are number. */
export type NumberValue = number | bigint | boolean;

/** Items of a number array, as narrow as in the file; bool as 0 or 1. */
export type Numbers =
  | Uint8Array
  | Int8Array
  | Uint16Array
  | Int16Array
  | Uint32Array
  | Int32Array
  | Float32Array
  | Float64Array
  | BigUint64Array
  | BigInt64Array;

interface NumberAccess {
  /** Bytes of one value. */
  readonly bytes: number;
  readonly get: (view: DataView, offset: number) => NumberValue;
  readonly set: (view: DataView, offset: number, value: NumberValue) => void;
  /** Room for `length` values. */
  readonly array: (length: number) => Numbers;
}

/** How each type of number lies in the file, little endian. */
export const numberTypes: Readonly<Record<NumberType, NumberAccess>> = {
  uint8: {
    bytes: 1,
    get: (view, at) => view.getUint8(at),
    set: (view, at, value) => view.setUint8(at, Number(value)),
    array: (length) => new Uint8Array(length),
  },
  int8: {
    bytes: 1,
    get: (view, at) => view.getInt8(at),
    set: (view, at, value) => view.setInt8(at, Number(value)),
    array: (length) => new Int8Array(length),
  },
  uint16: {
    bytes: 2,
    get: (view, at) => view.getUint16(at, true),
    set: (view, at, value) => view.setUint16(at, Number(value), true),
    array: (length) => new Uint16Array(length),
  },
  int16: {
    bytes: 2,
    get: (view, at) => view.getInt16(at, true),
    set: (view, at, value) => view.setInt16(at, Number(value), true),
    array: (length) => new Int16Array(length),
  },
  uint32: {
    bytes: 4,
    get: (view, at) => view.getUint32(at, true),
    set: (view, at, value) => view.setUint32(at, Number(value), true),
    array: (length) => new Uint32Array(length),
  },
  int32: {
    bytes: 4,
    get: (view, at) => view.getInt32(at, true),
    set: (view, at, value) => view.setInt32(at, Number(value), true),
    array: (length) => new Int32Array(length),
  },
  float32: {
    bytes: 4,
    get: (view, at) => view.getFloat32(at, true),
    set: (view, at, value) => view.setFloat32(at, Number(value), true),
    array: (length) => new Float32Array(length),
  },
  bool: {
    bytes: 1,
    get: (view, at) => view.getUint8(at) !== 0,
    set: (view, at, value) => view.setUint8(at, Number(value)),
    array: (length) => new Uint8Array(length),
  },
  uint64: {
    bytes: 8,
    get: (view, at) => view.getBigUint64(at, true),
    set: (view, at, value) => view.setBigUint64(at, BigInt(value), true),
    array: (length) => new BigUint64Array(length),
  },
  int64: {
    bytes: 8,
    get: (view, at) => view.getBigInt64(at, true),
    set: (view, at, value) => view.setBigInt64(at, BigInt(value), true),
    array: (length) => new BigInt64Array(length),
  },
  float64: {
    bytes: 8,
    get: (view, at) => view.getFloat64(at, true),
    set: (view, at, value) => view.setFloat64(at, Number(value), true),
    array: (length) => new Float64Array(length),
  },
};
