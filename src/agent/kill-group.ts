import type { ChildProcess } from 'node:child_process';

/**
 * SIGKILL to a child and to what it has started. The group has the number of its first process, and no other gets that
 * number while any member lives.
 *
 * @param child started as a group of its own; undefined when it could not be started
 */
export function killGroup(child: ChildProcess | undefined): void {
  if (child?.pid === undefined) return;
  if (process.platform === 'win32') child.kill('SIGKILL');
  else killGroupOf(child.pid);
}

/** The same by its number. */
export function killGroupOf(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Nobody is left.
  }
}
