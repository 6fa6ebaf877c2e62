import { limits } from '../../core/limits.js';
import type { StepResult } from './step-result.js';

/** What a stage holds for one generation session. */
export interface Session {
  readonly id: string;
  /** Positions held: the next row has this position. */
  length: number;
  /** Refuses every step until it is released. */
  cancelled: boolean;
  /** Answers of the newest steps, oldest first. */
  readonly answers: Map<number, StepResult>;
  /** Highest step whose answer is no longer kept; -1 when none was dropped. */
  highestForgotten: number;
}

/** The sessions of the newest epoch; at most `capacity` of them (I16). */
export class SessionTable {
  #sessions = new Map<string, Session>();
  #epoch = 0;

  constructor(readonly capacity: number) {}

  get epoch(): number {
    return this.#epoch;
  }

  get full(): boolean {
    return this.#sessions.size >= this.capacity;
  }

  /** Sessions that accept steps. */
  get active(): number {
    return [...this.#sessions.values()].filter((session) => !session.cancelled).length;
  }

  /** Positions held by all sessions together. */
  get positions(): number {
    return [...this.#sessions.values()].reduce((sum, session) => sum + session.length, 0);
  }

  find(id: string): Session | undefined {
    return this.#sessions.get(id);
  }

  open(id: string): Session {
    const session: Session = {
      id,
      length: 0,
      cancelled: false,
      answers: new Map(),
      highestForgotten: -1,
    };
    this.#sessions.set(id, session);
    return session;
  }

  remove(id: string): void {
    this.#sessions.delete(id);
  }

  /** Enters a newer epoch and gives back the ids of all sessions, which belong to an older one and are gone (I6). */
  advance(epoch: number): string[] {
    const gone = [...this.#sessions.keys()];
    this.#sessions.clear();
    this.#epoch = epoch;
    return gone;
  }
}

/** Keeps an answer for a repetition of its step. */
export function remember(session: Session, step: number, answer: StepResult): void {
  session.answers.set(step, answer);
  if (session.answers.size <= limits.stepsRemembered) return;
  const oldest = session.answers.keys().next().value!;
  session.answers.delete(oldest);
  session.highestForgotten = Math.max(session.highestForgotten, oldest);
}
