import { lstat, mkdir, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { probeSocket } from './probe-socket.js';

export type PathPreparation =
  | { readonly kind: 'free' }
  /** `problem` says what is there and what to do. */
  | { readonly kind: 'occupied'; readonly problem: string };

/**
 * Makes room for a Unix socket: its folder, for this user alone when it is made here, and the removal of a socket on which
 * nobody answers. One on which somebody answers is never touched. Throws the system's errors.
 */
export async function prepareSocketPath(path: string): Promise<PathPreparation> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return { kind: 'free' };
  if (!found.isSocket()) return occupied('a file that is no socket is there: move it away, or choose another path');
  switch (await probeSocket(path)) {
    case 'stale':
      await unlink(path);
      return { kind: 'free' };
    case 'live':
      return occupied('another process listens there: stop it, or choose another path');
    case 'unknown':
      return occupied('a socket of another user is there: remove it as its owner, or choose another path');
  }
}

function occupied(problem: string): PathPreparation {
  return { kind: 'occupied', problem };
}
