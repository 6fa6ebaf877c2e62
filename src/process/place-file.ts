import { randomBytes } from 'node:crypto';
import { link, lstat, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type FileRefusal, fileRefusalOf, refuseFile } from './file-refusal.js';
import { syncFolder } from './sync-folder.js';

export interface FilePlaced<T> {
  readonly kind: 'placed';
  /** What `write` has to say of it. */
  readonly written: T;
}

export interface PlaceFile<T> {
  /** Absolute; its folder exists. */
  readonly path: string;
  /** Replaces a file that is there. A link or a folder is never replaced. */
  readonly force: boolean;
  /**
   * Fills the file that it is told of, which is empty, beside `path`, and readable by its owner alone; puts it on the disk.
   * What it rejects with is thrown on, unless the operating system said it.
   */
  readonly write: (unfinished: string) => Promise<{ readonly kind: 'written'; readonly written: T } | FileRefusal>;
}

/**
 * Makes a large file that is there as a whole or not at all: written beside its place, then given its name. Nothing is left
 * of one that fails; after a crash `<path>.<letters>.unfinished` may be, which is safe to remove.
 */
export async function placeFile<T>({ path, force, write }: PlaceFile<T>): Promise<FilePlaced<T> | FileRefusal> {
  const unfinished = `${path}.${randomBytes(3).toString('hex')}.unfinished`;
  try {
    const obstacle = await obstacleAt(path, force);
    if (obstacle) return obstacle;
    await (await open(unfinished, 'wx', 0o600)).close();
    const outcome = await write(unfinished);
    if (outcome.kind === 'refused') return outcome;
    if (force) await rename(unfinished, path);
    else await nameOnce(unfinished, path);
    syncFolder(dirname(path));
    return { kind: 'placed', written: outcome.written };
  } catch (error) {
    return fileRefusalOf(error, path);
  } finally {
    // What cannot be removed could not be made either.
    for (const suffix of ['', '-journal']) await rm(`${unfinished}${suffix}`).catch(() => {});
  }
}

async function obstacleAt(path: string, force: boolean): Promise<FileRefusal | undefined> {
  const found = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (!found) return undefined;
  if (!found.isFile()) return refuseFile('not-a-file', path, found.isSymbolicLink() ? 'a link' : 'no regular file');
  return force ? undefined : refuseFile('exists', path, '');
}

/** Gives a name that nobody has: unlike a rename, a link never replaces what came there meanwhile. */
async function nameOnce(unfinished: string, path: string): Promise<void> {
  try {
    await link(unfinished, path);
  } catch (error) {
    // Sticks and shares without hard links; what is left is the moment since we looked.
    if (!['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP'].includes((error as NodeJS.ErrnoException).code ?? ''))
      throw error;
    await rename(unfinished, path);
  }
}
