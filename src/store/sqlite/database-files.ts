import { join } from 'node:path';

/** The files of a database, by their full paths. SQLite itself decides the suffixes. */
export function databaseFiles(folder: string) {
  const database = join(folder, 'stageplane.db');
  return { database, log: `${database}-wal`, unfinished: `${database}.new` } as const;
}
