import type { Database } from 'better-sqlite3';
import { StoreError } from '../store-error.js';
import { migrations } from './migrations.js';

/** "SPLN": tells our databases from all others. */
export const APPLICATION_ID = 0x53_50_4c_4e;

/** "SPLB": the same database as a backup, until the first commit after it was put in place. */
export const BACKUP_ID = 0x53_50_4c_42;

/** Writes the tables of the newest version into a database that is still empty. */
export function createTables(db: Database): void {
  markInUse(db);
  upgrade(db, 0);
}

export function isBackup(db: Database): boolean {
  return readNumber(db, 'application_id') === BACKUP_ID;
}

/** From now on it is a database in use. Part of a transaction, like any other change. */
export function markInUse(db: Database): void {
  db.pragma(`application_id = ${APPLICATION_ID}`);
}

/**
 * The version of an existing database. Reads only: a file that is not ours, or not yet, must stay as it is.
 *
 * @throws StoreError `newer-version`, or `corrupt` when it is no database of ours.
 */
export function readVersion(db: Database, folder: string): number {
  if (![APPLICATION_ID, BACKUP_ID].includes(readNumber(db, 'application_id'))) {
    throw new StoreError('corrupt', folder, 'stageplane.db is not a database of stageplane');
  }
  const version = readNumber(db, 'user_version');
  if (version > migrations.length) {
    throw new StoreError('newer-version', folder, `version ${version}; this one knows up to ${migrations.length}`);
  }
  return version;
}

/** Brings a database from a version to the newest one, in one transaction. */
export function migrate(db: Database, version: number): void {
  // Immediate even with nothing to do: it finds out now, not at the first commit, whether the disk can be written.
  db.transaction(upgrade).immediate(db, version);
}

function upgrade(db: Database, version: number): void {
  if (version === migrations.length) return;
  for (const migration of migrations.slice(version)) db.exec(migration);
  db.pragma(`user_version = ${migrations.length}`);
}

function readNumber(db: Database, pragma: 'application_id' | 'user_version'): number {
  return Number(db.pragma(pragma, { simple: true }));
}
