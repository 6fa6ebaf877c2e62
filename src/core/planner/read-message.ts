import { limits } from '../limits.js';
import type { PlanFault } from './plan-fault.js';
import { shown } from './shown.js';

/**
 * Reads one value of somebody else's making into a copy of our own, field by field: their order is the order of faults.
 * What does not fit is reported in `faults` under its field path (proto names, such as `stages[2].node_id`), from the value
 * on: whoever holds the value puts its own step before, so that a path costs nothing until there is a fault. The returned
 * copy means something only when there is none.
 *
 * Everything after this step works on the copy, so no rule has to ask again whether a field is there, no later change
 * of the caller's object matters, and nothing we hand out shares memory with it.
 */
export type Reader<T> = (value: unknown, faults: PlanFault[]) => T;

/** What a reader yields. */
export type Whole<R> = R extends Reader<infer T> ? T : never;

export type ReadOutcome<T> = { kind: 'read'; value: T } | { kind: 'malformed'; faults: PlanFault[] };

/** Reads a whole value. */
export function read<T>(reader: Reader<T>, value: unknown): ReadOutcome<T> {
  const faults: PlanFault[] = [];
  const copy = attempt(reader, value, faults);
  return faults.length === 0 ? { kind: 'read', value: copy } : { kind: 'malformed', faults };
}

/**
 * Reads a whole value where many are read that must all be sound. Total: code inside the value that throws (a getter, a
 * proxy) makes it unreadable, and that is then its only fault. `faults` is empty before.
 */
export function attempt<T>(reader: Reader<T>, value: unknown, faults: PlanFault[]): T {
  try {
    return reader(value, faults);
  } catch {
    faults.splice(0, faults.length, { kind: 'unreadable', field: '' });
    return undefined as T;
  }
}

/** Reads a value inside a message, and puts its step before what is wrong with it. */
export function field<T>(step: string, reader: Reader<T>, value: unknown, faults: PlanFault[]): T {
  const before = faults.length;
  const copy = reader(value, faults);
  if (faults.length > before) within(step, faults, before);
  return copy;
}

/** Whether a value can be asked for the fields of a message; nothing is known yet of what they hold. */
export function isMessage<T>(value: unknown): value is { readonly [K in keyof T]?: unknown } {
  return isObject(value);
}

/** What a reader yields where a message should be and is none. */
export function unset(faults: PlanFault[], choices?: Readonly<Record<string, string>>): never {
  faults.push({ kind: 'unset', field: '', ...(choices && { choices: Object.values(choices) }) });
  return undefined as never;
}

/** A message without fields. Its copies are one. */
export const empty: Reader<Record<string, never>> = (value, faults) => (isObject(value) ? NOTHING : unset(faults));
const NOTHING = Object.freeze({});

/** The fields of a message, or none of a value that is no message. */
export function fieldsOf<T>(value: unknown): { readonly [K in keyof T]?: unknown } {
  return isObject(value) ? (value as { readonly [K in keyof T]?: unknown }) : NOTHING;
}

/** A oneof as it is set. The path of a fault skips the oneof's own name, as the wire and its JSON do. */
export interface Choice {
  $case: string;
  value: unknown;
}

/** The steps of a oneof's cases, all of them: the build fails when the proto gains one. */
export type Steps<C extends Choice | undefined> = Readonly<Record<NonNullable<C>['$case'], string>>;

/** A message that is a oneof, with one of its cases set. */
export type Chosen<T> = { [K in keyof T]-?: NonNullable<T[K]> };

/** A list. Reading ends once there are more faults than a rejection can tell, so that a list of holes costs nothing. */
export function list<T>(item: Reader<T>): Reader<T[]> {
  return (value, faults) => {
    const copy: T[] = [];
    if (!Array.isArray(value)) {
      faults.push({ kind: 'not-a-value', field: '', expected: 'a list', got: shown(value) });
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

/** A field that the ABI has gained: what a program of an earlier version made lacks it. */
export function gained<T>(reader: Reader<T>, absent: () => T): Reader<T> {
  return (value, faults) => (value === undefined ? absent() : reader(value, faults));
}

/** A field that may be absent. */
export function optional<T>(reader: Reader<T>): Reader<T | undefined> {
  return (value, faults) => (value === undefined ? undefined : reader(value, faults));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** Puts a step before the paths of the faults from `first` on. */
function within(step: string, faults: PlanFault[], first: number): void {
  for (let at = first; at < faults.length; at++) {
    const fault = faults[at]!;
    const { field } = fault;
    faults[at] = { ...fault, field: field === '' || field.startsWith('[') ? step + field : `${step}.${field}` };
  }
}
