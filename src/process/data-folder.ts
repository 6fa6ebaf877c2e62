import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type FolderRefusal, refusalOf } from './folder-refusal.js';

export interface DataFolder {
  readonly kind: 'ready';
  /** Absolute. */
  readonly path: string;
}

/**
 * Makes a data folder and the folders above it, for its owner alone (0700), and proves that files can be written there.
 * An existing folder keeps its permissions: whoever made it may want to share it.
 */
export function prepareDataFolder(folder: string): DataFolder | FolderRefusal {
  const path = resolve(folder);
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    probeWrite(join(path, '.writable'));
    return { kind: 'ready', path };
  } catch (error) {
    return refusalOf(error, path);
  }
}

/** Only a write tells: permission bits say nothing of read-only mounts, quotas and root. */
function probeWrite(probe: string): void {
  try {
    writeFileSync(probe, 'this file may be removed\n', { mode: 0o600 });
  } catch (error) {
    // On a full disk it has its name already, and no content.
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC') rmSync(probe, { force: true });
    throw error;
  }
  rmSync(probe);
}
