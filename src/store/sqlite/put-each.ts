/** Where records of one kind are kept by a name. */
interface Records<T> {
  put(record: T): void;
  delete(key: string): void;
}

/** Brings a turn's changes in; undefined deletes. */
export function putEach<T>(records: Records<T>, changes: ReadonlyMap<string, T | undefined>): void {
  for (const [key, record] of changes) {
    if (record === undefined) records.delete(key);
    else records.put(record);
  }
}
