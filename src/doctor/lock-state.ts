import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';

export type LockState =
  | { readonly kind: 'free' }
  /** `pid` is what its holder wrote beside it. */
  | { readonly kind: 'held'; readonly pid: string | undefined };

/**
 * Whether a process has a data folder in use. Only reads: taking the lock for a moment could turn a daemon away that starts
 * just now. Not for the process that holds it, which would drop it by this (`folder-lock.ts`).
 */
export function lockState(folder: string): LockState {
  const path = join(folder, 'lock.db');
  if (!existsSync(path)) return { kind: 'free' };
  const db = new Database(path, { readonly: true, timeout: 0 });
  try {
    db.prepare('SELECT count(*) FROM sqlite_schema').get();
    return { kind: 'free' };
  } catch (error) {
    if (!(error as { code?: string }).code?.startsWith('SQLITE_BUSY')) throw error;
    return { kind: 'held', pid: pidIn(join(folder, 'lock.pid')) };
  } finally {
    db.close();
  }
}

function pidIn(path: string): string | undefined {
  try {
    return /^\d+/.exec(readFileSync(path, 'utf8'))?.[0];
  } catch {
    return undefined;
  }
}
