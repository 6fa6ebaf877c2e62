import { limits } from '../../core/limits.js';

/** Sequence numbers of the sessions that are open on one edge (I16). */
export class SessionSequences {
  #next = new Map<bigint, number>();

  /** The next object of the session has this sequence; 0 opens it. */
  next(session: bigint): number {
    return this.#next.get(session) ?? 0;
  }

  /** Whether one more session would be over `limits.sessionsPerStage`. */
  isOver(session: bigint): boolean {
    return this.#next.size >= limits.sessionsPerStage && !this.#next.has(session);
  }

  /** Every session that is open. */
  sessions(): bigint[] {
    return [...this.#next.keys()];
  }

  advance(session: bigint): void {
    this.#next.set(session, this.next(session) + 1);
  }

  forget(session: bigint): void {
    this.#next.delete(session);
  }
}
