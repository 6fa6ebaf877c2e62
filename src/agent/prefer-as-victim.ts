import { readFileSync, writeFileSync } from 'node:fs';
import { limits } from '../core/limits.js';

/**
 * When the machine's memory runs out, the kernel shall end this worker and not the agent, which tells of it. Raising the
 * score needs no privilege. Does nothing where there is no such score, see proc_pid_oom_score_adj(5).
 */
export function preferAsVictim(pid: number): void {
  try {
    const own = Number(readFileSync('/proc/self/oom_score_adj', 'utf8'));
    writeFileSync(`/proc/${pid}/oom_score_adj`, String(Math.min(own + limits.workerOomScore, 1000)));
  } catch {
    // Not Linux, or the worker is gone.
  }
}
