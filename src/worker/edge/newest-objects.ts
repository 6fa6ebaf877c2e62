import { recordBytes, type StageObject } from './object-record.js';

/** The newest objects that an edge was given while its consumer was away, `capacity` bytes with headers at most (I16). */
export class NewestObjects {
  readonly #objects: StageObject[] = [];
  #bytes = 0;

  constructor(readonly capacity: number) {}

  add(object: StageObject): void {
    this.#objects.push(object);
    this.#bytes += recordBytes(object);
    while (this.#bytes > this.capacity) this.#bytes -= recordBytes(this.#objects.shift()!);
  }

  /** Oldest first. */
  objects(): readonly StageObject[] {
    return this.#objects;
  }
}
