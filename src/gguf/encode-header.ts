import { type TensorTypeName, tensorBytes, tensorTypes } from '../core/tensors/tensor-type.js';
import { DEFAULT_ALIGNMENT, padded } from './alignment.js';
import type { GgufVersion } from './read-header.js';
import { type NumberType, type NumberValue, numberTypes, valueTypes } from './value-type.js';

/** A metadata value to write. */
export type WritableValue =
  | { readonly type: NumberType; readonly value: NumberValue }
  | { readonly type: 'string'; readonly value: string }
  | {
      readonly type: 'array';
      readonly elements: NumberType;
      readonly items: readonly NumberValue[];
    }
  | {
      readonly type: 'array';
      readonly elements: 'string';
      readonly items: readonly string[];
    };

/** A tensor to write, without its data. */
export interface WritableTensor {
  /** Under 64 bytes. */
  readonly name: string;
  readonly type: TensorTypeName;
  /** 1 to 4 extents, fastest first; the first a multiple of the type's block. */
  readonly dims: readonly number[];
}

/** What stands before the tensor data. */
export interface WritableHeader {
  /** Default 3. */
  readonly version?: GgufVersion;
  /** Bytes, a power of two. Default 32; any other is written as `general.alignment` too. */
  readonly alignment?: number;
  readonly metadata: readonly (readonly [key: string, value: WritableValue])[];
  readonly tensors: readonly WritableTensor[];
}

/**
 * The bytes of a header, padded up to the first tensor's data. Tensors follow in order, each padded to the alignment.
 * Trusts its caller: what the format forbids is written as told, and the reader refuses it.
 */
export function encodeHeader(header: WritableHeader): Uint8Array {
  const alignment = header.alignment ?? DEFAULT_ALIGNMENT;
  const metadata = withAlignment(header.metadata, alignment);
  const encoder = new HeaderEncoder(header.version ?? 3);
  encoder.length(header.tensors.length);
  encoder.length(metadata.length);
  for (const [key, value] of metadata) {
    encoder.string(key);
    encoder.value(value);
  }
  let offset = 0;
  for (const tensor of header.tensors) {
    encoder.row(tensor, offset);
    offset += padded(Number(tensorBytes(tensor.type, tensor.dims)), alignment);
  }
  return encoder.paddedTo(alignment);
}

/** A buffer that doubles as the header grows: vocabularies make it megabytes of small pieces. */
class HeaderEncoder {
  readonly #lengthType: NumberType;
  #room = Buffer.alloc(4096);
  #view = new DataView(this.#room.buffer, this.#room.byteOffset, this.#room.byteLength);
  #end = 0;

  constructor(version: GgufVersion) {
    this.#lengthType = version === 1 ? 'uint32' : 'uint64';
    this.#end += this.#makeRoom(4).write('GGUF');
    this.number('uint32', version);
  }

  /** The bytes so far, with zeros up to a multiple of `alignment`. */
  paddedTo(alignment: number): Uint8Array {
    return Buffer.concat([this.#room.subarray(0, this.#end)], padded(this.#end, alignment));
  }

  number(type: NumberType, value: NumberValue): void {
    const { bytes, set } = numberTypes[type];
    this.#makeRoom(bytes);
    set(this.#view, this.#end, value);
    this.#end += bytes;
  }

  length(value: number): void {
    this.number(this.#lengthType, value);
  }

  string(value: string): void {
    const bytes = Buffer.byteLength(value);
    this.length(bytes);
    this.#end += this.#makeRoom(bytes).write(value, this.#end);
  }

  value(value: WritableValue): void {
    this.number('uint32', valueTypes.indexOf(value.type));
    if (value.type === 'string') this.string(value.value);
    else if (value.type === 'array') this.#array(value);
    else this.number(value.type, value.value);
  }

  row({ name, type, dims }: WritableTensor, offset: number): void {
    this.string(name);
    this.number('uint32', dims.length);
    for (const extent of dims) this.length(extent);
    this.number('uint32', tensorTypes[type].id);
    this.number('uint64', offset);
  }

  #array(array: Extract<WritableValue, { type: 'array' }>): void {
    this.number('uint32', valueTypes.indexOf(array.elements));
    this.length(array.items.length);
    if (array.elements === 'string') for (const item of array.items) this.string(item);
    else for (const item of array.items) this.number(array.elements, item);
  }

  #makeRoom(bytes: number): Buffer {
    if (this.#end + bytes > this.#room.length) {
      this.#room = Buffer.concat([this.#room], Math.max(this.#end + bytes, this.#room.length * 2));
      this.#view = new DataView(this.#room.buffer, this.#room.byteOffset, this.#room.byteLength);
    }
    return this.#room;
  }
}

function withAlignment(metadata: WritableHeader['metadata'], alignment: number): WritableHeader['metadata'] {
  if (alignment === DEFAULT_ALIGNMENT) return metadata;
  return [...metadata, ['general.alignment', { type: 'uint32', value: alignment }]];
}
