import { readFileSync } from 'node:fs';

const KIB = 1024n;

/**
 * Bytes of RAM that a process holds for itself; undefined where the system does not say.
 *
 * Mapped file pages are left out where they can be told apart: the system counts them as free, so counting them as held
 * too would promise the same bytes twice.
 */
export function residentMemory(pid: number): bigint | undefined {
  try {
    return parseStatus(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return undefined;
  }
}

/** @param text of /proc/PID/status, see proc_pid_status(5) */
export function parseStatus(text: string): bigint | undefined {
  const field = (name: string) => {
    const digits = new RegExp(`^${name}:\\s*(\\d+) kB`, 'm').exec(text)?.[1];
    return digits === undefined ? undefined : BigInt(digits) * KIB;
  };
  const own = field('RssAnon');
  return own === undefined ? field('VmRSS') : own + (field('RssShmem') ?? 0n);
}
