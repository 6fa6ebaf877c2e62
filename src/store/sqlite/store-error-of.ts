import { accessSync, constants } from 'node:fs';
import { StoreError, type StoreErrorKind } from '../store-error.js';

/** Result codes of SQLite by their prefix (extended codes append to it), and error names of the operating system. */
const kindByCode: readonly (readonly [string, StoreErrorKind])[] = [
  ['SQLITE_FULL', 'disk-full'],
  ['ENOSPC', 'disk-full'],
  ['EDQUOT', 'disk-full'],
  ['SQLITE_READONLY', 'read-only'],
  ['EROFS', 'read-only'],
  ['EACCES', 'read-only'],
  ['EPERM', 'read-only'],
  ['SQLITE_CORRUPT', 'corrupt'],
  ['SQLITE_NOTADB', 'corrupt'],
  ['SQLITE_BUSY', 'locked'],
  ['SQLITE_LOCKED', 'locked'],
  ['SQLITE_IOERR', 'io'],
  ['SQLITE_CANTOPEN', 'io'],
  ['SQLITE_PROTOCOL', 'io'],
  ['SQLITE_NOLFS', 'io'],
  ['ENOENT', 'io'],
  ['ENOTDIR', 'io'],
  ['EISDIR', 'io'],
  ['EIO', 'io'],
  ['EMFILE', 'io'],
  ['ENFILE', 'io'],
];

/** The error as a StoreError when the disk is to blame; every other error is a defect and comes back unchanged. */
function storeErrorOf(error: unknown, folder: string): unknown {
  if (!(error instanceof Error) || error instanceof StoreError) return error;
  const code = 'code' in error ? String(error.code) : '';
  const kind = kindByCode.find(([prefix]) => code.startsWith(prefix))?.[1];
  if (kind === undefined) return error;
  // On a read-only file system SQLite cannot even open its shared memory, and says only "unable to open".
  const readOnly = kind === 'io' && !isWritable(folder);
  return new StoreError(readOnly ? 'read-only' : kind, folder, error.message, error);
}

/** Runs something that uses the disk; what it throws is a StoreError or a defect. */
export function withStoreErrors<T>(folder: string, use: () => T): T {
  try {
    return use();
  } catch (error) {
    throw storeErrorOf(error, folder);
  }
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch (error) {
    // A folder that is missing is not "read-only".
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}
