import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readProcessStat } from './process-stat.js';

/**
 * When a process was started, as a word to compare: process ids are used again, an id together with this word is not.
 * Undefined when there is no such process, or no way to know.
 */
export function processStart(pid: number): string | undefined {
  if (process.platform === 'win32') return undefined;
  if (process.platform !== 'linux') return askSystem(pid);
  const stat = readProcessStat(pid);
  const boot = bootId();
  return stat && boot && `${boot} ${stat.startTicks}`;
}

/** Ticks count from the start of the machine, so it must be the same start. */
function bootId(): string | undefined {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return undefined;
  }
}

function askSystem(pid: number): string | undefined {
  try {
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8', stdio: 'pipe' }).trim();
  } catch {
    return undefined;
  }
}
