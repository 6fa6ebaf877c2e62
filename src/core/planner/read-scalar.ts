import type { PlanFault } from './plan-fault.js';
import type { Reader } from './read-message.js';
import { shown } from './shown.js';

export const u32: Reader<number> = (value, faults) => {
  // Unsigned 32-bit numbers are those that this leaves as they are.
  if (typeof value !== 'number' || value >>> 0 !== value) notA('whole number from 0 to 4294967295', value, faults);
  return value as number;
};

export const s32: Reader<number> = (value, faults) => {
  if (typeof value !== 'number' || (value | 0) !== value) {
    notA('whole number from -2147483648 to 2147483647', value, faults);
  }
  return value as number;
};

export const u64: Reader<bigint> = (value, faults) => {
  // Twice as fast as two comparisons, and much of a plan is ids.
  if (typeof value !== 'bigint' || BigInt.asUintN(64, value) !== value) notA('bigint from 0 to 2^64-1', value, faults);
  return value as bigint;
};

export const text: Reader<string> = (value, faults) => {
  if (typeof value !== 'string') notA('string', value, faults);
  return value as string;
};

/** A known value of a generated enum; neither UNSPECIFIED nor UNRECOGNIZED is one. */
export function enumValue<E extends Record<string, string | number>>(values: E): Reader<Extract<E[keyof E], number>> {
  const known = Object.entries(values).filter(([, value]) => typeof value === 'number' && value > 0);
  const names = known.map(([name]) => name);
  const isKnown: boolean[] = [];
  for (const [, value] of known) isKnown[value as number] = true;
  return (value, faults) => {
    if (typeof value !== 'number' || isKnown[value] !== true) {
      faults.push({ kind: 'unknown-enum-value', field: '', got: shown(value), known: names });
    }
    return value as Extract<E[keyof E], number>;
  };
}

function notA(what: string, value: unknown, faults: PlanFault[]): void {
  faults.push({ kind: 'not-a-value', field: '', expected: `a ${what}`, got: shown(value) });
}
