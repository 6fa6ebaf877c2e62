import { uptime } from 'node:os';
import { type Millis, millis } from '../core/ids.js';

/** Milliseconds since the machine's start, those it slept included: a lease must not outlive a closed lid. */
export function suspendClock(): Millis {
  return millis(uptime() * 1000);
}
