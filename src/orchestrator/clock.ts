import { type Millis, millis, type WallMillis, wallMillis } from '../core/ids.js';

/** Where the shell reads time, and the only thing that wakes it; tests and the simulator give their own. */
export interface Clock {
  /** Never goes back; only differences mean anything. */
  now(): Millis;
  /** For people. */
  wall(): WallMillis;
  /** Calls once, after so many milliseconds; gives what calls it off. Keeps no process alive. */
  after(delay: number, act: () => void): () => void;
  /** Calls once, when everything that has arrived by now has been taken in. */
  soon(act: () => void): void;
}

/** setTimeout overflows above this and fires at once. */
const LONGEST_TIMEOUT = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => millis(performance.now()),
  wall: () => wallMillis(Date.now()),
  after: (delay, act) => {
    const handle = setTimeout(act, Math.min(Math.max(Math.ceil(delay), 0), LONGEST_TIMEOUT)).unref();
    return () => clearTimeout(handle);
  },
  soon: (act) => void setImmediate(act),
};
