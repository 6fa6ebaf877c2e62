import type { LlamaLibrary } from './llama-library.js';
import type { Pointer } from './structs.js';

/**
 * Takes the rows that leave a layer, in the middle of the library's computation, which ends there: the norm and the head
 * that follow are another stage's.
 */
export class HiddenTap {
  /** For `ContextParams.cb_eval`. */
  readonly callback: bigint;
  readonly #pieces: Float32Array[] = [];
  /** Tensors of this run that the library has asked about. */
  #asked = 0;
  #isSingle = false;
  /** Which one is the layer's when a single row runs; undefined until one has run. */
  #place: number | undefined;

  constructor(
    readonly library: LlamaLibrary,
    layer: number,
  ) {
    const { koffi, api } = library;
    const wanted = `l_out-${layer}`;
    const type = koffi.proto('bool', ['void*', 'bool', 'void*']);
    this.callback = koffi.register((tensor: Pointer, asks: boolean) => {
      if (asks) return this.#isDue() && this.#found(api.tensorName(tensor) === wanted);
      this.#take(tensor);
      return false;
    }, koffi.pointer(type));
  }

  /** A run of so many rows begins. */
  expect(rows: number): void {
    this.#asked = 0;
    this.#isSingle = rows === 1;
  }

  /** The rows since the last call: new memory, `count` elements or an exception. */
  rows(count: number): Float32Array {
    const pieces = this.#pieces.splice(0);
    const rows = pieces.length === 1 ? pieces[0]! : joined(pieces);
    if (rows.length === count) return rows;
    this.#place = undefined;
    throw new Error(`the layer gave ${rows.length} numbers, not ${count}`);
  }

  /** Forgets the rows of a run that failed. */
  discard(): void {
    this.#pieces.length = 0;
  }

  free(): void {
    this.library.koffi.unregister(this.callback);
  }

  /**
   * Whether the name of the next tensor is worth a look. Hundreds come before the layer's, in the same order for every
   * single row, and a token waits for each look.
   */
  #isDue(): boolean {
    this.#asked += 1;
    return !this.#isSingle || this.#place === undefined || this.#asked === this.#place;
  }

  #found(isWanted: boolean): boolean {
    if (this.#isSingle) this.#place = isWanted ? this.#asked : undefined;
    return isWanted;
  }

  #take(tensor: Pointer): void {
    const { api } = this.library;
    const bytes = Number(api.tensorBytes(tensor));
    const values = new Float32Array(bytes / 4);
    api.readTensor(tensor, values, 0, bytes);
    this.#pieces.push(values);
  }
}

function joined(pieces: readonly Float32Array[]): Float32Array {
  const all = new Float32Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}
