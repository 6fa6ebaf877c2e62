import { U64_MAX } from '../uint.js';

/** A short picture of any value at all; never runs the value's own code. */
export function shown(value: unknown): string {
  if (value === undefined) return 'absent';
  if (value === null) return 'null';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value === 'bigint') return value < 0n ? 'negative' : value > U64_MAX ? 'above 2^64-1' : `${value}n`;
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
