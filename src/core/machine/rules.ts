import type { Timings } from './timings.js';

/** What the machine is told once: periods, and the one pure function that it does not own. */
export interface Rules {
  readonly timings: Timings;
  /** SHA-256 of a text, as 64 hexadecimal digits. */
  readonly sha256: (text: string) => string;
}
