import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { StoreError } from '../store-error.js';
import { databaseFiles } from './database-files.js';
import { readVersion } from './migrate.js';
import { oneLine } from './one-line.js';
import { withStoreErrors } from './store-error-of.js';

export interface DatabaseFacts {
  readonly version: number;
  readonly revision: bigint;
  readonly auditRecords: bigint;
  /** Milliseconds since 1970, of the oldest record; undefined when there is none. */
  readonly auditSince: bigint | undefined;
}

/**
 * Reads all of a database and leaves it as it is.
 *
 * @param inUse whether a process has it open: then it is read beside that one. Otherwise a copy is read, since SQLite would
 * leave files beside a database that it only reads.
 * @throws StoreError
 */
export function inspectDatabase(folder: string, inUse: boolean): DatabaseFacts {
  const { database } = databaseFiles(folder);
  return withStoreErrors(folder, () => {
    if (inUse) return read(database, folder);
    const elsewhere = mkdtempSync(join(tmpdir(), 'stageplane-'));
    try {
      return read(copyTo(elsewhere, folder), folder);
    } finally {
      rmSync(elsewhere, { recursive: true, force: true });
    }
  });
}

function copyTo(elsewhere: string, folder: string): string {
  const from = databaseFiles(folder);
  const to = databaseFiles(elsewhere);
  copyFileSync(from.database, to.database);
  if (existsSync(from.log)) copyFileSync(from.log, to.log);
  return to.database;
}

function read(database: string, folder: string): DatabaseFacts {
  const db = new Database(database, { readonly: true, fileMustExist: true });
  try {
    db.defaultSafeIntegers(true);
    const version = readVersion(db, folder);
    const answer = db.pragma('integrity_check(1)', { simple: true });
    if (answer !== 'ok') throw new StoreError('corrupt', folder, oneLine(answer));
    const revision = db.prepare<[], bigint>('SELECT revision FROM cluster').pluck().get();
    if (revision === undefined) throw new StoreError('corrupt', folder, 'it has no cluster');
    return { version, revision, ...auditFacts(db) };
  } finally {
    db.close();
  }
}

function auditFacts(db: Database.Database): Pick<DatabaseFacts, 'auditRecords' | 'auditSince'> {
  const isThere = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'audit'").get() !== undefined;
  if (!isThere) return { auditRecords: 0n, auditSince: undefined };
  const select = db.prepare<[], { records: bigint; since: bigint | null }>(
    'SELECT count(*) AS records, min(since) AS since FROM audit',
  );
  const { records = 0n, since } = select.get() ?? {};
  return { auditRecords: records, auditSince: since ?? undefined };
}
