// Writes a backup on a thread of its own: a slow or dead disk that it goes to must not hold up the loop.
import { statSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import Database from 'better-sqlite3';
import type { BackupMessage, BackupThreadData } from './backup-messages.js';
import { checkBackup } from './check-backup.js';
import { markAsBackup } from './database-header.js';

/** Pages of 4 KiB between two looks at whether to go on. */
const PAGES_PER_STEP = 256;

const { database, file, cancelled } = workerData as BackupThreadData;
const isCancelled = () => Atomics.load(new Int32Array(cancelled), 0) > 0;
const tell = (message: BackupMessage) => parentPort?.postMessage(message);

try {
  await copy();
  markAsBackup(file);
  const revision = checkBackup(file);
  tell(isCancelled() ? { kind: 'cancelled' } : { kind: 'made', bytes: statSync(file).size, revision });
} catch (error) {
  const { code = '', message } = error as Error & { code?: string };
  tell(isCancelled() ? { kind: 'cancelled' } : { kind: 'failed', code, detail: message });
}

async function copy(): Promise<void> {
  const source = new Database(database, { readonly: true, fileMustExist: true });
  try {
    // One snapshot for the whole copy: commits of the loop neither wait for it nor make it begin anew.
    source.exec('BEGIN');
    source.prepare('SELECT count(*) FROM cluster').get();
    const pageBytes = Number(source.pragma('page_size', { simple: true }));
    await source.backup(file, {
      progress: ({ totalPages, remainingPages }) => {
        if (isCancelled()) throw new Error('cancelled');
        tell({ kind: 'progress', done: (totalPages - remainingPages) * pageBytes, total: totalPages * pageBytes });
        return PAGES_PER_STEP;
      },
    });
  } finally {
    source.close();
  }
}
