import { closeSync, fsyncSync, openSync } from 'node:fs';

/** Makes new, renamed and removed names in a folder durable: syncing a file does not sync its name. */
export function syncFolder(folder: string): void {
  // Windows cannot open a folder as a file, and its file systems log renames by themselves.
  if (process.platform === 'win32') return;
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
