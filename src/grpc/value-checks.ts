import type { DescEnum } from '@bufbuild/protobuf';
import { limits } from '../core/limits.js';
import type { FieldRule } from './field-rules.js';
import type { FieldViolation } from './field-violation.js';

/** Looks at one value; the paths of what it finds are relative to that value, and empty for the value itself. */
export type Check<Value = unknown> = (value: Value) => readonly FieldViolation[];

/** What a good value gives, so that the common case allocates nothing. */
export const NOTHING: readonly FieldViolation[] = Object.freeze([]);

export function violation(description: string): readonly FieldViolation[] {
  return [{ field: '', description }];
}

/** Puts a field's name before what was found inside it. */
export function inside(name: string, found: readonly FieldViolation[]): readonly FieldViolation[] {
  if (found.length === 0) return found;
  return found.map(({ field, description }) => ({
    field: field === '' || field.startsWith('[') ? name + field : `${name}.${field}`,
    description,
  }));
}

/** Adds up what several checks found, up to `limits.violationsPerRejection`. */
export function both(one: readonly FieldViolation[], other: readonly FieldViolation[]): readonly FieldViolation[] {
  if (other.length === 0) return one;
  return one.length === 0 ? other : [...one, ...other].slice(0, limits.violationsPerRejection);
}

/** ts-proto hands on enum numbers that it does not know, so a newer client's value would pass as nonsense. */
export function enumCheck({ name, values }: DescEnum): Check<number> {
  const known = new Set(values.map((value) => value.number));
  const usable = values.filter((value) => value.number !== 0).map((value) => value.name);
  return (value) =>
    known.has(value)
      ? NOTHING
      : violation(`${value} is no ${name} this version knows; use ${usable.join(', ')}, or upgrade the orchestrator`);
}

export function stringCheck({ maxBytes = limits.stringBytes }: FieldRule): Check<string> {
  return (value) => {
    // At most three bytes per UTF-16 unit: short strings need no counting.
    if (value.length * 3 <= maxBytes) return NOTHING;
    const bytes = Buffer.byteLength(value);
    return bytes <= maxBytes ? NOTHING : violation(`${bytes} bytes are too many; at most ${maxBytes}`);
  };
}

export function bytesCheck({ maxBytes = limits.stringBytes }: FieldRule): Check<Uint8Array> {
  return (value) =>
    value.length <= maxBytes ? NOTHING : violation(`${value.length} bytes are too many; at most ${maxBytes}`);
}

/** A google.protobuf.Timestamp arrives as a Date, an impossible one as an invalid Date. */
export function timestampCheck(): Check<Date> {
  return (value) => (Number.isNaN(value.getTime()) ? violation('this is no time; use RFC 3339') : NOTHING);
}

export function listCheck(entry: Check | undefined, { maxEntries = limits.listEntries }: FieldRule): Check<unknown[]> {
  return (list) => {
    if (list.length > maxEntries) return violation(`${list.length} entries are too many; at most ${maxEntries}`);
    if (entry === undefined) return NOTHING;
    let found = NOTHING;
    for (let index = 0; index < list.length && found.length < limits.violationsPerRejection; index += 1) {
      const here = entry(list[index]);
      if (here.length > 0) found = both(found, inside(`[${index}]`, here));
    }
    return found;
  };
}

export function mapCheck(
  key: Check | undefined,
  value: Check | undefined,
  { maxEntries = limits.listEntries }: FieldRule,
): Check<Record<string, unknown>> {
  return (map) => {
    const entries = Object.entries(map);
    if (entries.length > maxEntries) return violation(`${entries.length} entries are too many; at most ${maxEntries}`);
    let found = NOTHING;
    for (const [name, held] of entries) {
      // A key that is too long is not repeated in the answer.
      found = both(found, key?.(name) ?? NOTHING);
      found = both(found, inside(`[${JSON.stringify(name)}]`, value?.(held) ?? NOTHING));
    }
    return found;
  };
}
