import { existsSync, statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { limits } from '../../core/limits.js';
import { takeFromOthers } from '../../process/private-file.js';
import { StoreError } from '../store-error.js';
import { createDatabase } from './create-database.js';
import { databaseFiles } from './database-files.js';
import { migrate, readVersion } from './migrate.js';
import { oneLine } from './one-line.js';
import { withStoreErrors } from './store-error-of.js';

/**
 * Opens the database of a data folder, or makes it when there is none. The caller holds the folder's lock.
 *
 * @throws StoreError of every kind. A damaged database is refused, never replaced.
 */
export function openDatabase(folder: string, newClusterId: () => string): Database.Database {
  return withStoreErrors(folder, () => {
    const { database, log } = databaseFiles(folder);
    if (!existsSync(folder)) throw new StoreError('io', folder, 'there is no such folder');
    if (!existsSync(database)) createDatabase(folder, newClusterId);
    const { size } = statSync(database);
    // To SQLite an empty file is a new database; to us it is one that was cut off.
    if (size === 0) throw new StoreError('corrupt', folder, 'stageplane.db is empty');

    // It has prompts and answers. SQLite gives its other files the permissions of the first, when it makes them.
    for (const file of [database, log, `${database}-shm`]) takeFromOthers(file);
    const db = new Database(database, { fileMustExist: true, timeout: limits.databaseBusyMillis });
    try {
      const version = readVersion(db, folder);
      configure(db, folder);
      migrate(db, version);
      if (size <= limits.quickCheckBytes) quickCheck(db, folder);
      return db;
    } catch (error) {
      db.close();
      throw error;
    }
  });
}

/** None of these settings is stored in the file but the journal mode: they are due at each open. */
function configure(db: Database.Database, folder: string): void {
  db.defaultSafeIntegers(true);
  const mode = db.pragma('journal_mode = WAL', { simple: true });
  if (mode !== 'wal') throw new StoreError('io', folder, `its file system allows only journal mode ${mode}, not wal`);
  // In WAL mode the default of this build is NORMAL, which may lose the last commits when power fails (I4).
  db.pragma('synchronous = FULL');
  // On macOS an ordinary fsync leaves the data in the drive's cache. Elsewhere this changes nothing.
  db.pragma('fullfsync = ON');
  db.pragma('foreign_keys = ON');
  // A checkpoint blocks a commit for some 10 ms: Store.checkpoint does it when idle. This is for when nobody is.
  db.pragma(`wal_autocheckpoint = ${limits.databaseLogPages}`);
}

function quickCheck(db: Database.Database, folder: string): void {
  const answer = db.pragma('quick_check(1)', { simple: true });
  if (answer !== 'ok') throw new StoreError('corrupt', folder, oneLine(answer));
}
