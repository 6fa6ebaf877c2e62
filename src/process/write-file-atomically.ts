import { closeSync, fsyncSync, openSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { type FolderRefusal, refusalOf } from './folder-refusal.js';
import { syncFolder } from './sync-folder.js';

export interface FileWritten {
  readonly kind: 'written';
}

/**
 * Replaces a small file, readable by its owner alone. When this answers `written` the new content survives power loss;
 * at any moment, and after any crash, the file has its old or its new content as a whole. One writer per file: the
 * folder's lock sees to that.
 */
export function writeFileAtomically(path: string, content: string | Uint8Array): FileWritten | FolderRefusal {
  const unfinished = `${path}.new`;
  try {
    writeDurably(unfinished, content);
    renameSync(unfinished, path);
    syncFolder(dirname(path));
    return { kind: 'written' };
  } catch (error) {
    // What is left of the unfinished file is overwritten by the next attempt.
    return refusalOf(error, dirname(path));
  }
}

function writeDurably(path: string, content: string | Uint8Array): void {
  const descriptor = openSync(path, 'w', 0o600);
  try {
    writeFileSync(descriptor, content);
    // Before the rename: a name must never point to bytes that are not on the disk.
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
