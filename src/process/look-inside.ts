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
 * What cannot be resolved is looked for from the top down to the first name that is missing: what lies behind a link out is
 * `outside` whether it is there or not, so that nobody learns of a file by asking for it, and a path of a thousand names that
 * are not there costs as little as one of one (I16).
 */
async function follow(candidate: string, roots: readonly string[]): Promise<Whereabouts> {
  const whole = await realpath(candidate).catch(() => undefined);
  if (whole !== undefined) {
    return isHeld(whole, roots) ? { kind: 'inside', path: candidate, real: whole } : { kind: 'outside' };
  }
  let last: string | undefined;
  for (const path of fromTheTop(candidate)) {
    const real = await realpath(path).catch(() => undefined);
    if (real !== undefined) {
      last = real;
      continue;
    }
    const isBrokenLink = await lstat(path).then(
      (found) => found.isSymbolicLink(),
      () => false,
    );
    return last !== undefined && !isBrokenLink && isHeld(last, roots) ? { kind: 'absent' } : { kind: 'outside' };
  }
  // It came to be while we looked.
  return last !== undefined && isHeld(last, roots) ? { kind: 'absent' } : { kind: 'outside' };
}

/** The folders of an absolute path from the root on, and itself. */
function fromTheTop(path: string): string[] {
  const above = dirname(path);
  return above === path ? [path] : [...fromTheTop(above), path];
}

function isHeld(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => path === folder || isInside(path, folder));
}

async function realFolders(folders: readonly string[]): Promise<string[]> {
  const real = await Promise.all(folders.map((folder) => realpath(folder).catch(() => undefined)));
  return real.filter((folder) => folder !== undefined);
}
