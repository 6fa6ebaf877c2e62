import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { FolderRefusal } from '../process/folder-refusal.js';
import { type FileWritten, writeFileAtomically } from '../process/write-file-atomically.js';

/** Beside the folder of certificates, and there before it: that one can be lost, or on its way in a rename, and this still says that it was. */
export function securityMark(dataFolder: string): string {
  return join(dataFolder, 'certificates-needed');
}

export function isMarkedSecure(dataFolder: string): boolean {
  return existsSync(securityMark(dataFolder));
}

/** From here on a daemon does not start on this data folder without its certificates. */
export function markSecure(dataFolder: string): FileWritten | FolderRefusal {
  return writeFileAtomically(securityMark(dataFolder), 'this daemon has certificates: see pki\n');
}
