import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { limits } from '../core/limits.js';
import { outputOf } from './output-of.js';

/** Physical cores that this process may use: two threads of one core share what the kernels need most. */
export async function physicalCores(): Promise<number> {
  const logical = availableParallelism();
  const cores = fromCpuInfo() ?? (await fromLscpu()) ?? (await fromSysctl()) ?? logical;
  // Inside a container the machine may have more than is ours.
  return Math.min(cores, logical);
}

/** @param text of /proc/cpuinfo; ARM kernels name no cores there */
export function countCores(text: string): number | undefined {
  const cores = new Set<string>();
  for (const block of text.split(/\n\s*\n/)) {
    const core = /^core id\s*:\s*(\d+)/m.exec(block)?.[1];
    const socket = /^physical id\s*:\s*(\d+)/m.exec(block)?.[1] ?? '0';
    if (core !== undefined) cores.add(`${socket}/${core}`);
  }
  return cores.size > 0 ? cores.size : undefined;
}

function fromCpuInfo(): number | undefined {
  try {
    return countCores(readFileSync('/proc/cpuinfo', 'utf8'));
  } catch {
    return undefined;
  }
}

async function fromLscpu(): Promise<number | undefined> {
  if (process.platform !== 'linux') return undefined;
  const output = await outputOf('lscpu', ['-p=CORE,SOCKET'], limits.processorQueryMillis);
  const lines = output?.split('\n').filter((line) => /^\d/.test(line)) ?? [];
  return lines.length > 0 ? new Set(lines).size : undefined;
}

async function fromSysctl(): Promise<number | undefined> {
  if (process.platform !== 'darwin') return undefined;
  const count = Number(await outputOf('sysctl', ['-n', 'hw.physicalcpu'], limits.processorQueryMillis));
  return Number.isInteger(count) && count > 0 ? count : undefined;
}
