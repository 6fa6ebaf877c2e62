import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../core/limits.js';
import { type MarkedProcess, markedProcesses } from './marked-processes.js';

/**
 * SIGKILL to every process with a mark, over and over: they may have started others meanwhile. One look when there is none.
 *
 * @param found told once of each, before it is ended
 * @returns true when none is left, false when some would not go before `signal` was aborted
 */
export async function endMarked(
  mark: string,
  found: (marked: MarkedProcess) => void,
  signal?: AbortSignal,
): Promise<boolean> {
  const told = new Set<number>();
  for (;;) {
    const marked = markedProcesses(mark);
    if (marked.length === 0) return true;
    if (signal?.aborted) return false;
    for (const one of marked) {
      if (!told.has(one.pid)) found(one);
      told.add(one.pid);
      kill(one.pid);
    }
    await sleep(limits.strayLookMillis);
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself.
  }
}
