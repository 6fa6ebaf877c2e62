import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { removableFolder } from './removable-folder.js';

/** A small file system of its own, in memory. */
export interface MountedFolder {
  readonly path: string;
  /** From now on nothing can be written to it, not even by root. */
  makeReadOnly(): void;
  /** Gives it other bounds, such as `size=8m`. */
  remount(options: string): void;
  remove(): void;
}

/** Whether this user may mount: root may, unless a container forbids it. */
export function canMount(): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  try {
    mountedFolder('size=64k').remove();
    return true;
  } catch {
    return false;
  }
}

export function mountedFolder(options: string): MountedFolder {
  const { path } = removableFolder();
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'stageplane-test', path], { stdio: 'pipe' });
  } catch (error) {
    rmSync(path, { recursive: true, force: true });
    throw error;
  }
  return {
    path,
    makeReadOnly: () => remount(path, 'ro'),
    remount: (bounds) => remount(path, bounds),
    remove: () => {
      execFileSync('umount', ['--lazy', path], { stdio: 'pipe' });
      rmSync(path, { recursive: true, force: true });
    },
  };
}

function remount(path: string, options: string): void {
  execFileSync('mount', ['-o', `remount,${options}`, path], { stdio: 'pipe' });
}
