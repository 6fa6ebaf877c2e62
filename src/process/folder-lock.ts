import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { limits } from '../core/limits.js';
import { type FolderRefusal, refusalOf, refuse } from './folder-refusal.js';
import { makePrivate } from './private-file.js';

export interface FolderLock {
  readonly kind: 'locked';
  /** Lets another process in. Calling it twice is fine. */
  release(): void;
}

/**
 * Locks that this process holds. A lock that nothing refers to would be closed by the garbage collector, and with it
 * the guarantee.
 */
const held = new Set<Database.Database>();

/**
 * Lets one process into a data folder, for as long as it lives. The lock is a SQLite transaction that never ends, hence
 * a lock of the kernel on `lock.db`: it is gone when the process is, however it ended. Nothing else in this process
 * may open `lock.db`, since closing any descriptor of a file drops the POSIX locks on it.
 *
 * Answers within `limits.lockWaitMillis`, also when the folder is in use.
 */
export function lockFolder(folder: string): FolderLock | FolderRefusal {
  const pidFile = join(folder, 'lock.pid');
  let db: Database.Database | undefined;
  try {
    // Whoever may read it can lock it, and keep us out.
    makePrivate(join(folder, 'lock.db'));
    db = new Database(join(folder, 'lock.db'), { timeout: limits.lockWaitMillis });
    // Nothing is ever written, so no journal need lie beside the lock.
    db.pragma('journal_mode = MEMORY');
    db.exec('BEGIN EXCLUSIVE');
    held.add(db);
    writeFileSync(pidFile, `${process.pid}\n`, { mode: 0o600 });
    return lockOf(db, pidFile);
  } catch (error) {
    if (db) {
      held.delete(db);
      db.close();
    }
    return refusalOfLock(error, folder, pidFile);
  }
}

function lockOf(db: Database.Database, pidFile: string): FolderLock {
  return {
    kind: 'locked',
    release() {
      if (!held.delete(db)) return;
      rmSync(pidFile, { force: true });
      db.close();
    },
  };
}

function refusalOfLock(error: unknown, folder: string, pidFile: string): FolderRefusal {
  if (!(error instanceof Database.SqliteError)) return refusalOf(error, folder);
  if (error.code.startsWith('SQLITE_BUSY')) return inUse(folder, pidFile);
  if (error.code.startsWith('SQLITE_READONLY')) return refuse('read-only', folder, error.message);
  if (error.code.startsWith('SQLITE_FULL')) return refuse('disk-full', folder, error.message);
  return refuse('io', folder, `lock.db: ${error.message}`);
}

function inUse(folder: string, pidFile: string): FolderRefusal {
  const pid = readPid(pidFile);
  const who = pid === undefined ? 'another stageplane process' : `another stageplane process (pid ${pid})`;
  return {
    kind: 'refused',
    reason: 'in-use',
    message: `${who} uses the data folder ${folder}: stop it, or name another folder with --data`,
  };
}

/** For the message only: the file may be missing or older than the lock. */
function readPid(pidFile: string): string | undefined {
  try {
    return /^\d+/.exec(readFileSync(pidFile, 'utf8'))?.[0];
  } catch {
    return undefined;
  }
}
