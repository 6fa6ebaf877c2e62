import { limits } from '../../core/limits.js';

/** One step that waits or runs. */
export interface Work {
  readonly sessionId: string;
  readonly step: number;
  /** Bytes of its input. */
  readonly bytes: number;
  /** Set from outside; the step looks at it between two micro-batches. */
  cancelled: boolean;
}

/** Runs steps one after the other, in the order of their arrival. */
export class WorkQueue {
  #works = new Set<Work>();
  #last: Promise<unknown> = Promise.resolve();

  get full(): boolean {
    return this.#works.size >= limits.queuedSteps;
  }

  get idle(): boolean {
    return this.#works.size === 0;
  }

  /** Steps that wait for their turn. */
  get waiting(): number {
    return Math.max(0, this.#works.size - 1);
  }

  get bytes(): number {
    return [...this.#works].reduce((sum, work) => sum + work.bytes, 0);
  }

  /** Whether a step of the session waits or runs. */
  has(sessionId: string): boolean {
    return [...this.#works].some((work) => work.sessionId === sessionId);
  }

  /** `perform` must not reject. */
  run<T>(work: Work, perform: () => Promise<T>): Promise<T> {
    this.#works.add(work);
    const done = this.#last.then(perform).finally(() => this.#works.delete(work));
    this.#last = done;
    return done;
  }

  /** Cancels everything, and resolves when nothing runs any more. */
  async end(): Promise<void> {
    for (const work of this.#works) work.cancelled = true;
    await this.#last;
  }

  /** Cancels a session's steps, or the one of that name, and says whether there were any. */
  cancel(sessionId: string, step?: number): boolean {
    const matching = [...this.#works].filter(
      (work) => work.sessionId === sessionId && (step === undefined || work.step === step),
    );
    for (const work of matching) work.cancelled = true;
    return matching.length > 0;
  }
}
