import { chmodSync, closeSync, openSync } from 'node:fs';

/**
 * Sees to it that a file is there and its owner's alone, for those who would make it with what the umask leaves (0644). One that
 * is there is never opened: closing it would drop the POSIX locks that this process has on it.
 */
export function makePrivate(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    takeFromOthers(path);
  }
}

/** Does nothing where there is no such file, or where it is another user's. */
export function takeFromOthers(path: string): void {
  try {
    chmodSync(path, 0o600);
  } catch (error) {
    if (!['ENOENT', 'EPERM', 'EROFS'].includes(String((error as NodeJS.ErrnoException).code))) throw error;
  }
}
