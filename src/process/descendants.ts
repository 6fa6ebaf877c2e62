import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { readProcessStat } from './process-stat.js';

/** Ids of every process that `root` started, directly or not, as far as they have not been handed to another parent. */
export function descendantsOf(root: number): number[] {
  const children = new Map<number, number[]>();
  for (const { pid, parent } of listProcesses()) children.set(parent, [...(children.get(parent) ?? []), pid]);
  const found: number[] = [];
  const waiting = [...(children.get(root) ?? [])];
  for (let pid = waiting.pop(); pid !== undefined; pid = waiting.pop()) {
    found.push(pid);
    waiting.push(...(children.get(pid) ?? []));
  }
  return found;
}

/** Whether a process exists and is not merely waiting to be reaped. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== 'linux' || !['Z', 'X'].includes(readProcessStat(pid)?.state ?? 'X');
  } catch {
    return false;
  }
}

interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
}

function listProcesses(): ProcessEntry[] {
  if (process.platform === 'linux') return readdirSync('/proc').filter(isNumber).flatMap(readStat);
  const listing = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' });
  return listing
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .map(([pid = 0, parent = 0]) => ({ pid, parent }));
}

/** None when it ended while we looked. */
function readStat(name: string): ProcessEntry[] {
  const stat = readProcessStat(Number(name));
  return stat ? [stat] : [];
}

function isNumber(name: string): boolean {
  return /^\d+$/.test(name);
}
