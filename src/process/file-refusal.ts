import { dirname } from 'node:path';

/** Why a file cannot be made where somebody wants it. */
export type FileRefusalReason =
  | 'exists'
  | 'not-a-file'
  | 'no-folder'
  | 'no-permission'
  | 'read-only'
  | 'disk-full'
  | 'bad-name'
  | 'io';

/** A file that cannot be made. `message` is a whole sentence that names it and says what to do. */
export interface FileRefusal {
  readonly kind: 'refused';
  readonly reason: string;
  readonly message: string;
}

const reasonByCode: Readonly<Record<string, FileRefusalReason>> = {
  EEXIST: 'exists',
  EISDIR: 'not-a-file',
  ENOENT: 'no-folder',
  ENOTDIR: 'no-folder',
  EACCES: 'no-permission',
  EPERM: 'no-permission',
  EROFS: 'read-only',
  ENOSPC: 'disk-full',
  EDQUOT: 'disk-full',
  EFBIG: 'disk-full',
  SQLITE_FULL: 'disk-full',
  ENAMETOOLONG: 'bad-name',
};

const sentences: Readonly<Record<FileRefusalReason, (path: string, detail: string) => string>> = {
  exists: (path) => `${path} exists already: name another file, or replace it with --force`,
  'not-a-file': (path, detail) => `${path} is ${detail} and is left alone: name the file itself, or another one`,
  'no-folder': (path) => `the folder ${dirname(path)} does not exist: make it, or name another file`,
  'no-permission': (path, detail) =>
    `this user may not write to the folder ${dirname(path)} (${detail}): change its owner, or name another file`,
  'read-only': (path) => `the folder ${dirname(path)} is on a read-only file system: name another file`,
  'disk-full': (path) =>
    `the disk of ${dirname(path)} is full, and nothing was left there: free some space, or name another`,
  'bad-name': (path) => `the name of ${path} is too long for its file system: name a shorter one`,
  io: (path, detail) => `${path} cannot be written (${detail}): check the disk, or name another file`,
};

export function refuseFile(reason: FileRefusalReason, path: string, detail: string): FileRefusal {
  return { kind: 'refused', reason, message: sentences[reason](path, detail) };
}

/** What a code of the operating system or of SQLite means for a file. */
export function refuseByCode(code: string, path: string, detail: string): FileRefusal {
  return refuseFile(reasonByCode[code] ?? 'io', path, detail);
}

/** What the operating system said about a file, as a refusal. An error that it did not make is thrown on. */
export function fileRefusalOf(error: unknown, path: string): FileRefusal {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) throw error;
  return refuseByCode(String(error.code), path, error.code === 'EISDIR' ? 'a folder' : error.message);
}
