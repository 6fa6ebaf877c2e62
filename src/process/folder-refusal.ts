/** Why a data folder cannot be used. */
export type FolderRefusalReason =
  | 'read-only'
  | 'no-permission'
  | 'not-a-folder'
  | 'disk-full'
  /** Another process holds its lock. */
  | 'in-use'
  | 'io';

/** A data folder that cannot be used. `message` is a whole sentence that names it and says what to do. */
export interface FolderRefusal {
  readonly kind: 'refused';
  readonly reason: FolderRefusalReason;
  readonly message: string;
}

const reasonByCode: Readonly<Record<string, FolderRefusalReason>> = {
  EROFS: 'read-only',
  EACCES: 'no-permission',
  EPERM: 'no-permission',
  EEXIST: 'not-a-folder',
  ENOTDIR: 'not-a-folder',
  ENOSPC: 'disk-full',
  EDQUOT: 'disk-full',
};

const sentences: Readonly<Record<Exclude<FolderRefusalReason, 'in-use'>, (folder: string, detail: string) => string>> =
  {
    'read-only': (folder) => `the data folder ${folder} is on a read-only file system: name another folder with --data`,
    'no-permission': (folder, detail) =>
      `this user may not write to the data folder ${folder} (${detail}): change its owner, or name another with --data`,
    'not-a-folder': (folder) =>
      `the data folder ${folder} cannot be made, since a file is in its way: move it, or name another folder with --data`,
    'disk-full': (folder) => `the disk of the data folder ${folder} is full: free some space and start again`,
    io: (folder, detail) =>
      `the data folder ${folder} cannot be used (${detail}): check the disk, or name another folder with --data`,
  };

/** What the operating system said about a data folder, as a refusal. An error that it did not make is thrown on. */
export function refusalOf(error: unknown, folder: string): FolderRefusal {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) throw error;
  const reason = reasonByCode[String(error.code)] ?? 'io';
  return refuse(reason as keyof typeof sentences, folder, error.message);
}

/** A refusal with its sentence; `detail` is a clause for people. */
export function refuse(reason: keyof typeof sentences, folder: string, detail: string): FolderRefusal {
  return { kind: 'refused', reason, message: sentences[reason](folder, detail) };
}
