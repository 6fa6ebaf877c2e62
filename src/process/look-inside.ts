import { lstat, realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, normalize } from 'node:path';
import { isInside } from './is-inside.js';

/** Where a path leads that a stranger has named. */
export type Whereabouts =
  /** `path` as it was named, but absolute; `real` with all links followed. */
  | { readonly kind: 'inside'; readonly path: string; readonly real: string }
  /** It would be inside, were it there. */
  | { readonly kind: 'absent' }
  /** Whether there is anything is not looked at, or not told. */
  | { readonly kind: 'outside' };

/** Looks a path up under some folders and nowhere else: neither `..` nor a link leads out of them. Never rejects. */
export async function lookInside(path: string, folders: readonly string[]): Promise<Whereabouts> {
  // A NUL ends a path in the kernel's eyes, and only there.
  if (path.includes('\0')) return { kind: 'outside' };
  const roots = await realFolders(folders);
  const candidates = isAbsolute(path) ? [normalize(path)] : folders.map((folder) => join(folder, path));
  let answer: Whereabouts = { kind: 'outside' };
  for (const candidate of candidates) {
    if (!isHeld(candidate, [...folders, ...roots])) continue;
    const found = await follow(candidate, roots);
    if (found.kind === 'inside') return found;
    if (found.kind === 'absent') answer = found;
  }
  return answer;
}

/**
 * Goes up from what cannot be resolved to the first folder that can be: what lies behind a link out is `outside` whether
 * it is there or not, so that nobody learns of a file by asking for it.
 */
async function follow(candidate: string, roots: readonly string[]): Promise<Whereabouts> {
  for (let path = candidate; ; path = dirname(path)) {
    const real = await realpath(path).catch(() => undefined);
    if (real !== undefined) {
      if (!isHeld(real, roots)) return { kind: 'outside' };
      return path === candidate ? { kind: 'inside', path, real } : { kind: 'absent' };
    }
    const isBrokenLink = await lstat(path).then(
      (found) => found.isSymbolicLink(),
      () => false,
    );
    if (isBrokenLink || path === dirname(path)) return { kind: 'outside' };
  }
}

function isHeld(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => path === folder || isInside(path, folder));
}

async function realFolders(folders: readonly string[]): Promise<string[]> {
  const real = await Promise.all(folders.map((folder) => realpath(folder).catch(() => undefined)));
  return real.filter((folder) => folder !== undefined);
}
