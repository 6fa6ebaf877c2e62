import { closeSync, openSync, readSync } from 'node:fs';
import { tensorTypes } from '../../../core/tensors/tensor-type.js';
import type { GgufModel, ModelTensor } from '../../../gguf/open-model.js';
import type { SliceRecipe } from '../../../gguf/slice/slice-recipe.js';
import type { LlamaLibrary } from './llama-library.js';
import type { Pointer } from './structs.js';

/** Offset of `to_float` in ggml's `ggml_type_traits`: after a name, two block sizes, a size in bytes and a flag. */
const TO_FLOAT_OFFSET = 40;

/**
 * Looks up the embeddings of tokens in the model's own file, row by row, so that no stage holds the table: a vocabulary
 * can be larger than all the layers of a stage. The library's own conversion makes the numbers of them that it would
 * have made inside.
 */
export class EmbeddingTable {
  readonly width: number;
  /** Rows of the table. */
  readonly size: number;
  readonly #tensor: ModelTensor;
  readonly #file: number;
  readonly #convert: (row: Uint8Array, into: Float32Array) => void;
  readonly #row: Uint8Array;
  readonly #factor: number;

  /** Throws when the model has no table, or one of a type that the library cannot convert. */
  constructor(library: LlamaLibrary, model: GgufModel, recipe: SliceRecipe) {
    this.#tensor = tableOf(model);
    const { type, dims, bytes, path } = this.#tensor;
    this.width = dims[0]!;
    this.size = dims[1] ?? 1;
    this.#row = new Uint8Array(bytes / this.size);
    this.#convert = converter(library, tensorTypes[type].id, this.width);
    // llama.cpp multiplies by a 32-bit float; one product of two of those is exact in 64 bits and rounded once.
    this.#factor = recipe.embeddingFactor === 'one' ? 1 : Math.fround(Math.sqrt(this.width));
    this.#file = openSync(path, 'r');
  }

  /** One row per id. Throws when an id is outside the table, and when the file became shorter. */
  rows(ids: readonly number[]): Float32Array {
    const rows = new Float32Array(ids.length * this.width);
    for (const [index, id] of ids.entries()) {
      this.#read(id);
      this.#convert(this.#row, rows.subarray(index * this.width, (index + 1) * this.width));
    }
    if (this.#factor !== 1) for (let at = 0; at < rows.length; at++) rows[at]! *= this.#factor;
    return rows;
  }

  close(): void {
    closeSync(this.#file);
  }

  #read(id: number): void {
    if (id >= this.size) throw new Error(`token ${id} is outside the embedding table of ${this.size} rows`);
    const { path, offset } = this.#tensor;
    const read = readSync(this.#file, this.#row, 0, this.#row.length, offset + id * this.#row.length);
    if (read !== this.#row.length) throw new Error(`${path} became shorter while the stage ran: copy the file again`);
  }
}

function tableOf(model: GgufModel): ModelTensor {
  const table = model.tensors.find(({ name }) => name === 'token_embd.weight');
  if (table === undefined) throw new Error(`${model.path} has no tensor token_embd.weight`);
  return table;
}

function converter(library: LlamaLibrary, type: number, width: number) {
  if (type === tensorTypes.F32.id) {
    return (row: Uint8Array, into: Float32Array) => into.set(new Float32Array(row.buffer, 0, width));
  }
  const { koffi, api } = library;
  const traits = api.typeTraits(type);
  const toFloat: Pointer = traits === null ? null : koffi.decode(traits, TO_FLOAT_OFFSET, 'void*');
  if (toFloat === null) throw new Error(`llama.cpp cannot look up rows of tensor type ${type}`);
  const call = koffi.proto('void', ['void*', 'void*', 'int64']);
  return (row: Uint8Array, into: Float32Array) => koffi.call(toFloat, call, row, into, width);
}
