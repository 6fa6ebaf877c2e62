import { readdirSync, readFileSync } from 'node:fs';
import { clipText } from '../core/clip-text.js';
import { limits } from '../core/limits.js';
import { readProcessStat } from './process-stat.js';

/** The variable that carries a mark. A process hands it down to whatever it starts, however that hides. */
export const PROCESS_MARK = 'STAGEPLANE_WORKER_MARK';

export interface MarkedProcess {
  readonly pid: number;
  /** Number of its process group. */
  readonly group: number;
  /** Its command line, for people. */
  readonly command: string;
}

/**
 * Living processes that were started with a mark, or with one that goes on after it with a dot. Looks at every process
 * of the machine. Finds none where the system is not Linux, and none that has cleared its environment.
 */
export function markedProcesses(mark: string): MarkedProcess[] {
  if (process.platform !== 'linux') return [];
  return livingProcesses().flatMap((pid) => (hasMark(pid, mark) ? describe(pid) : []));
}

function livingProcesses(): number[] {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger);
  } catch {
    // Some sandboxes have no /proc.
    return [];
  }
}

function hasMark(pid: number, mark: string): boolean {
  // Of others' processes nothing can be read, and those that wait to be reaped have no environment.
  const environment = `\0${read(`/proc/${pid}/environ`)}`;
  const found = `\0${PROCESS_MARK}=${mark}`;
  const at = environment.indexOf(found);
  return at >= 0 && ['\0', '.', ''].includes(environment.charAt(at + found.length));
}

function describe(pid: number): MarkedProcess[] {
  const stat = readProcessStat(pid);
  if (stat === undefined) return [];
  const words = read(`/proc/${pid}/cmdline`).split('\0').join(' ').trim();
  return [{ pid, group: stat.group, command: clipText(words, limits.commandBytes) }];
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
