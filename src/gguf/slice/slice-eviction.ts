import { lstat, readdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { isSliceName } from './slice-name.js';

/** Where the links of slices in use are, beside the slices. */
export const IN_USE = 'in-use';

interface FoundSlice {
  readonly path: string;
  readonly bytes: number;
  readonly lastUsed: number;
  readonly inUse: boolean;
}

/** Drops unused slices, least recently used first, until at most `targetBytes` are left. Gives the bytes still above it. */
export async function evictSlices(folder: string, targetBytes: number): Promise<number> {
  const slices = await findSlices(folder);
  let bytes = slices.reduce((sum, slice) => sum + slice.bytes, 0);
  const unused = slices.filter(({ inUse }) => !inUse).sort((a, b) => a.lastUsed - b.lastUsed);
  for (const slice of unused) {
    if (bytes <= targetBytes) break;
    await rm(slice.path, { force: true });
    bytes -= slice.bytes;
  }
  return Math.max(0, bytes - targetBytes);
}

/** Removes the links and drafts of processes that have ended: nobody will. */
export async function sweepLeftovers(folder: string): Promise<void> {
  const drafts = (await readdir(folder)).filter((file) => /\.draft(\.partial)?$/.test(file));
  const links = await readdir(join(folder, IN_USE));
  const paths = [...drafts.map((file) => join(folder, file)), ...links.map((file) => join(folder, IN_USE, file))];
  await Promise.all(paths.filter((path) => !isAlive(ownerOf(path))).map((path) => rm(path, { force: true })));
}

async function findSlices(folder: string): Promise<FoundSlice[]> {
  const files = (await readdir(folder)).filter(isSliceName);
  const found = await Promise.all(
    files.map(async (file) => {
      const path = join(folder, file);
      // Another worker may drop it between the two looks.
      const stats = await lstat(path).catch(() => undefined);
      return stats && { path, bytes: stats.size, lastUsed: stats.mtimeMs, inUse: stats.nlink > 1 };
    }),
  );
  return found.filter((slice) => slice !== undefined);
}

/** Both begin with the number of the process that made them. */
function ownerOf(path: string): number {
  return Number.parseInt(basename(path), 10);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return pid > 0;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
