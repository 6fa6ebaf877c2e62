import type { ChildProcess } from 'node:child_process';

/**
 * SIGKILL to a child and to what it has started. The group has the number of its first process, and no other gets that
 * number while any member lives.
 *
 * @param child started as a group of its own; undefined when it could not be started
 */
export function killGroup(child: ChildProcess | undefined): void {
  if (child?.pid === undefined) return;
  try {
    if (process.platform === 'win32') child.kill('SIGKILL');
    else process.kill(-child.pid, 'SIGKILL');
  } catch {
    // Nobody is left.
  }
}
