import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { revision } from '../../core/ids.js';
import { packageRoot } from '../../package-root.js';
import type { BackupOptions, BackupOutcome } from '../store.js';
import type { BackupMessage, BackupThreadData } from './backup-messages.js';

/** Copies a database that is in use, as `Store.backup` says. */
export function backupDatabase(database: string, file: string, options: BackupOptions): Promise<BackupOutcome> {
  const { signal, onProgress } = options;
  const cancelled = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  const cancel = () => Atomics.store(new Int32Array(cancelled), 0, 1);
  if (signal.aborted) cancel();
  signal.addEventListener('abort', cancel);
  const workerData: BackupThreadData = { database, file, cancelled };
  // Threads run what is built, as processes do.
  const thread = new Worker(join(packageRoot(), 'dist', 'src', 'store', 'sqlite', 'backup-thread.js'), { workerData });
  let outcome: BackupOutcome = { kind: 'failed', code: '', detail: 'its thread ended without a word' };
  thread.on('message', (message: BackupMessage) => {
    if (message.kind === 'progress') onProgress(message.done, message.total);
    else outcome = message.kind === 'made' ? { ...message, revision: revision(message.revision) } : message;
  });
  thread.on('error', ({ message }) => {
    outcome = { kind: 'failed', code: '', detail: message };
  });
  // Only when the thread is gone does it hold the file no more.
  return new Promise((resolve) => {
    thread.on('exit', () => {
      signal.removeEventListener('abort', cancel);
      resolve(outcome);
    });
  });
}
