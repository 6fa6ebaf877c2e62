import { type Millis, millis, type WallMillis, wallMillis } from '../core/ids.js';

/** Where the shell reads time; tests give their own. */
export interface Clock {
  /** Never goes back; only differences mean anything. */
  now(): Millis;
  /** For people. */
  wall(): WallMillis;
}

export const systemClock: Clock = {
  now: () => millis(performance.now()),
  wall: () => wallMillis(Date.now()),
};
