import { limits } from '../limits.js';
import { snakeCase } from '../snake-case.js';
import { U32_MAX, U64_MAX } from '../uint.js';
import type { PlanFault } from './plan-fault.js';

/**
 * Reads one value of somebody else's making into a copy of our own. What does not fit is reported in `faults` under its
 * field path (proto names, such as `stages[2].node_id`), from the value on: whoever holds the value puts its own step
 * before, so that a path costs nothing until there is a fault. The returned copy means something only when there is none.
 *
 * Everything after this step works on the copy, so no rule has to ask again whether a field is there, no later change
 * of the caller's object matters, and nothing we hand out shares memory with it.
 */
export type Reader<T> = (value: unknown, faults: PlanFault[]) => T;

/** What a reader yields. */
export type Whole<R> = R extends Reader<infer T> ? T : never;

export type ReadOutcome<T> = { kind: 'read'; value: T } | { kind: 'malformed'; faults: PlanFault[] };

/** Reads a whole value. Total: code inside the value that throws (a getter, a proxy) makes it unreadable, no more. */
export function read<T>(reader: Reader<T>, value: unknown): ReadOutcome<T> {
  const faults: PlanFault[] = [];
  try {
    const copy = reader(value, faults);
    return faults.length === 0 ? { kind: 'read', value: copy } : { kind: 'malformed', faults };
  } catch {
    return { kind: 'malformed', faults: [{ kind: 'unreadable', field: '' }] };
  }
}

/** A message with all these fields; fields that are not listed are neither read nor copied. */
export function message<S extends Record<string, Reader<unknown>>>(shape: S): Reader<{ [K in keyof S]: Whole<S[K]> }> {
  const names = Object.keys(shape);
  const readers = Object.values(shape);
  const steps = names.map(snakeCase);
  return (value, faults) => {
    const copy: Record<string, unknown> = {};
    if (!isObject(value)) {
      faults.push({ kind: 'unset', field: '' });
    } else {
      // By index: half of all planning is spent here, and an iterator costs a tenth of that.
      for (let at = 0; at < names.length; at++) {
        const before = faults.length;
        copy[names[at]!] = readers[at]!(value[names[at]!], faults);
        if (faults.length > before) within(steps[at]!, faults, before);
      }
    }
    return copy as { [K in keyof S]: Whole<S[K]> };
  };
}

type Choice = { $case: string; value: unknown };
type Cases<U extends Choice> = {
  [C in U['$case']]: Reader<Extract<U, { $case: C }>['value']>;
};

/** A message that is one oneof, named `oneof`. The path skips the oneof's name, as the wire and its JSON do. */
export function choice<F extends string, U extends Choice>(oneof: F, cases: Cases<U>): Reader<Record<F, U>> {
  const arms = new Map(
    Object.entries<Reader<unknown>>(cases).map(([name, reader]) => [name, { step: snakeCase(name), reader }]),
  );
  const choices = [...arms.values()].map(({ step }) => step);
  return (value, faults) => {
    const set = isObject(value) ? value[oneof] : undefined;
    const name = isObject(set) ? set.$case : undefined;
    const arm = typeof name === 'string' ? arms.get(name) : undefined;
    if (!isObject(set) || arm === undefined) {
      faults.push({ kind: 'unset', field: '', choices });
      return {} as Record<F, U>;
    }
    const before = faults.length;
    const copy = { $case: name, value: arm.reader(set.value, faults) };
    if (faults.length > before) within(arm.step, faults, before);
    return { [oneof]: copy } as Record<F, U>;
  };
}

/** A list. Reading ends once there are more faults than a rejection can tell, so that a list of holes costs nothing. */
export function list<T>(item: Reader<T>): Reader<T[]> {
  return (value, faults) => {
    const copy: T[] = [];
    if (!Array.isArray(value)) {
      faults.push({
        kind: 'not-a-value',
        field: '',
        expected: 'a list',
        got: shown(value),
      });
      return copy;
    }
    for (let i = 0; i < value.length && faults.length < limits.violationsPerRejection; i++) {
      const before = faults.length;
      copy.push(item(value[i], faults));
      if (faults.length > before) within(`[${i}]`, faults, before);
    }
    return copy;
  };
}

/** A field that may be absent. */
export function optional<T>(reader: Reader<T>): Reader<T | undefined> {
  return (value, faults) => (value === undefined ? undefined : reader(value, faults));
}

/** A known value of a generated enum; neither UNSPECIFIED nor UNRECOGNIZED is one. */
export function enumValue<E extends Record<string, string | number>>(values: E): Reader<Extract<E[keyof E], number>> {
  const known = Object.entries(values).filter(([, value]) => typeof value === 'number' && value > 0);
  const numbers = new Set<unknown>(known.map(([, value]) => value));
  const names = known.map(([name]) => name);
  return (value, faults) => {
    if (!numbers.has(value))
      faults.push({
        kind: 'unknown-enum-value',
        field: '',
        got: shown(value),
        known: names,
      });
    return value as Extract<E[keyof E], number>;
  };
}

export const u32: Reader<number> = scalar('a whole number from 0 to 4294967295', isU32);
export const u64: Reader<bigint> = scalar('a bigint from 0 to 2^64-1', isU64);
export const text: Reader<string> = scalar('a string', (value) => typeof value === 'string');

function scalar<T>(expected: string, fits: (value: unknown) => value is T): Reader<T> {
  return (value, faults) => {
    if (!fits(value)) faults.push({ kind: 'not-a-value', field: '', expected, got: shown(value) });
    return value as T;
  };
}

function isU32(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= U32_MAX;
}

function isU64(value: unknown): value is bigint {
  return typeof value === 'bigint' && value >= 0n && value <= U64_MAX;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** A short picture of any value at all; never runs the value's own code. */
export function shown(value: unknown): string {
  if (value === undefined) return 'absent';
  if (value === null) return 'null';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value === 'bigint') return value < 0n ? 'negative' : value > U64_MAX ? 'above 2^64-1' : `${value}n`;
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** Puts a step before the paths of the faults from `first` on. */
function within(step: string, faults: PlanFault[], first: number): void {
  for (let at = first; at < faults.length; at++) {
    const fault = faults[at]!;
    const { field } = fault;
    faults[at] = { ...fault, field: field === '' || field.startsWith('[') ? step + field : `${step}.${field}` };
  }
}
