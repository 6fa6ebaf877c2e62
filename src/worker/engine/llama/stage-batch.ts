import type { LlamaLibrary } from './llama-library.js';
import type { Batch } from './structs.js';

/** Rows for one call of `decode`, in the library's own memory: allocated once, written before each call. */
export class StageBatch {
  /** As the library made it, and as it must be freed. */
  readonly #made: Batch;
  readonly #used: Batch;
  readonly #rows: Float32Array;
  readonly #positions: Int32Array;
  readonly #sequences: readonly Int32Array[];
  readonly #outputs: Int8Array;
  readonly #ownPositions: unknown;

  constructor(
    readonly library: LlamaLibrary,
    readonly capacity: number,
    readonly width: number,
    readonly planes: 1 | 4,
  ) {
    const { koffi, api } = library;
    const made = api.makeBatch(capacity, width, 1);
    this.#made = made;
    // The library gives room for one plane of positions, whatever the architecture.
    this.#ownPositions = planes === 1 ? undefined : koffi.alloc('int32', capacity * planes);
    this.#used = this.#ownPositions === undefined ? made : { ...made, pos: this.#ownPositions };
    this.#rows = new Float32Array(koffi.view(made.embd, capacity * width * 4));
    this.#positions = new Int32Array(koffi.view(this.#used.pos, capacity * planes * 4));
    this.#outputs = new Int8Array(koffi.view(made.logits, capacity));
    const lists: unknown[] = koffi.decode(made.seq_id, 'void*', capacity);
    this.#sequences = lists.map((list) => new Int32Array(koffi.view(list, 4)));
    new Int32Array(koffi.view(made.n_seq_id, capacity * 4)).fill(1);
  }

  /**
   * The batch of `rows`, one after the other from `position` on. All of them, or the last alone, are outputs: a row that
   * is none is left out of the last layer.
   */
  fill(sequence: number, position: number, rows: Float32Array, outputs: 'all' | 'last'): Batch {
    const count = rows.length / this.width;
    this.#rows.set(rows);
    for (let row = 0; row < count; row++) {
      this.#sequences[row]![0] = sequence;
      this.#outputs[row] = outputs === 'all' || row === count - 1 ? 1 : 0;
      // Time, height and width are all the position of a text; the fourth plane is 0.
      for (let plane = 0; plane < this.planes; plane++) {
        this.#positions[plane * count + row] = plane < 3 ? position + row : 0;
      }
    }
    return { ...this.#used, n_tokens: count };
  }

  free(): void {
    const { koffi, api } = this.library;
    if (this.#ownPositions !== undefined) koffi.free(this.#ownPositions);
    api.freeBatch(this.#made);
  }
}
