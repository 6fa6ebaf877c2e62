import type { Random } from './random.js';

interface Entry {
  readonly at: number;
  /** Decides among entries of one moment: what really happens at once comes in any order. */
  readonly tie: number;
  readonly act: () => void;
  calledOff: boolean;
}

/** The only time of a simulation, in milliseconds: a heap of what is to happen. */
export class VirtualTime {
  now = 0;
  /** Milliseconds that the orchestrator's wall clock shows beyond it. */
  wallAhead = 0;
  readonly #heap: Entry[] = [];

  constructor(private readonly random: Random) {}

  get pending(): number {
    return this.#heap.length;
  }

  /** @returns what calls it off */
  at(moment: number, act: () => void): () => void {
    const entry = { at: Math.max(moment, this.now), tie: this.random.next(), act, calledOff: false };
    this.#push(entry);
    return () => {
      entry.calledOff = true;
    };
  }

  after(delay: number, act: () => void): () => void {
    return this.at(this.now + delay, act);
  }

  /** Lets the next thing happen. False when nothing is left until `deadline`, which is then the time. */
  step(deadline: number): boolean {
    for (;;) {
      const next = this.#heap[0];
      if (next === undefined || next.at > deadline) {
        this.now = Math.max(this.now, deadline);
        return false;
      }
      this.#pop();
      if (next.calledOff) continue;
      this.now = next.at;
      next.act();
      return true;
    }
  }

  #push(entry: Entry): void {
    const heap = this.#heap;
    let at = heap.push(entry) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(entry, heap[parent]!)) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = entry;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop()!;
    if (heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child += 1;
      if (!isBefore(heap[child]!, last)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
  }
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.at < b.at || (a.at === b.at && a.tie < b.tie);
}
