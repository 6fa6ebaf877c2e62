import { readFileSync } from 'node:fs';

/** What Linux tells of a process, see proc_pid_stat(5). */
export interface ProcessStat {
  readonly pid: number;
  /** `Z` and `X` are dead and wait to be reaped. */
  readonly state: string;
  readonly parent: number;
  /** Number of its process group. */
  readonly group: number;
  /** Clock ticks from the start of the machine to that of the process. */
  readonly startTicks: string;
}

/** Undefined when there is no such process, or no /proc. */
export function readProcessStat(pid: number): ProcessStat | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the command in parentheses and may hold anything: the third comes after the last of them.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state = '', parent, group] = fields;
    return { pid, state, parent: Number(parent), group: Number(group), startTicks: fields[19] ?? '' };
  } catch {
    return undefined;
  }
}
