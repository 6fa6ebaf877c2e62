/** What went wrong, by what the operator can do about it. */
export type StoreErrorKind =
  | 'disk-full'
  | 'read-only'
  | 'corrupt'
  | 'newer-version'
  | 'locked'
  /** The disk failed in the middle: whether the last commit took hold is unknown. */
  | 'io';

const sentences: Readonly<Record<StoreErrorKind, (folder: string, detail: string) => string>> = {
  'disk-full': (folder) =>
    `the disk of the data folder ${folder} is full, so nothing was committed: free some space and try again`,
  'read-only': (folder) =>
    `the data folder ${folder} is read-only: make it writable for this user, or name another folder with --data`,
  corrupt: (folder, detail) =>
    `the database in the data folder ${folder} is damaged (${detail}): put a backup in its place with ` +
    `\`stageplane restore FILE --data ${folder} --force\`, or move stageplane.db* out of it to begin with an empty cluster`,
  'newer-version': (folder, detail) =>
    `the database in the data folder ${folder} was written by a newer stageplane (${detail}): ` +
    'install that version, or name another folder with --data',
  locked: (folder) => `another program has locked the database in the data folder ${folder}: close it and start again`,
  io: (folder, detail) =>
    `the database in the data folder ${folder} cannot be read or written (${detail}): ` +
    'check the disk and its free space, then start again',
};

/** A store that cannot do its part. `message` is a whole sentence that names the data folder and says what to do. */
export class StoreError extends Error {
  override readonly name = 'StoreError';

  /** `detail` is a clause for people; only `corrupt`, `newer-version` and `io` use it. */
  constructor(
    readonly kind: StoreErrorKind,
    readonly folder: string,
    detail: string,
    cause?: unknown,
  ) {
    super(sentences[kind](folder, detail), { cause });
  }
}
