import { join } from 'node:path';

/** The files of a database, by their full paths. SQLite itself decides the suffixes. */
export function databaseFiles(folder: string) {
  const database = join(folder, 'stageplane.db');
  return {
    database,
    log: `${database}-wal`,
    /** Of a new cluster, before it is whole. */
    unfinished: `${database}.new`,
    /** A backup on its way into the folder. */
    restoring: `${database}.restoring`,
  } as const;
}
