import type { FootprintRecord } from './state.js';

/** Brings changes into a map; undefined deletes. */
export function replaceAll<K, V>(target: Map<K, V>, changes: ReadonlyMap<K, V | undefined>): void {
  for (const [key, value] of changes) {
    if (value === undefined) target.delete(key);
    else target.set(key, value);
  }
}

/** A record that is renewed is the newest one. */
export function putLast(records: Map<string, FootprintRecord>, record: FootprintRecord): void {
  records.delete(record.key);
  records.set(record.key, record);
}
