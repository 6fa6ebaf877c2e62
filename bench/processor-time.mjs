// What processes take of the processors, by the kernel's own clocks: how long something took says less on a busy machine.
import { readFileSync } from 'node:fs';
import koffi from 'koffi';
import { descendantsOf } from '../dist/src/process/descendants.js';

/** Of /proc/stat: `sysconf(_SC_CLK_TCK)`, which Linux has as 100 everywhere. */
const TICKS_PER_SECOND = 100;

const isLinux = process.platform === 'linux';
const libc = isLinux ? koffi.load('libc.so.6') : undefined;
const clockOf = libc?.func('int clock_getcpuclockid(int pid, _Out_ int *clock)');
const read = libc?.func('int clock_gettime(int clock, _Out_ int64_t *time)');

/**
 * Milliseconds of processor that all threads of some processes have taken so far, to the microsecond and better; NaN where
 * it is not Linux that runs them.
 *
 * @param {number[]} pids those that are gone count as nothing
 */
export function processorMillis(pids) {
  return isLinux ? pids.reduce((sum, pid) => sum + ofOne(pid), 0) : Number.NaN;
}

function ofOne(pid) {
  const clock = [0];
  const time = new BigInt64Array(2);
  if (clockOf(pid, clock) !== 0 || read(clock[0], time) !== 0) return 0;
  return Number(time[0]) * 1000 + Number(time[1]) / 1e6;
}

/** Begins to watch; gives how many cores everybody but this process and what it started has taken since, a hypervisor included; NaN likewise. */
export function foreignCores() {
  if (!isLinux) return () => Number.NaN;
  const begin = { at: performance.now(), all: busyMillis(), own: ownMillis() };
  return () => {
    const taken = busyMillis() - begin.all - (ownMillis() - begin.own);
    return Math.max(0, taken / (performance.now() - begin.at));
  };
}

function ownMillis() {
  return processorMillis([process.pid, ...descendantsOf(process.pid)]);
}

/** All but the fourth and the fifth number, which are idle times, and the last two, which others contain. */
function busyMillis() {
  const [line] = readFileSync('/proc/stat', 'utf8').split('\n');
  const [user, nice, system, , , interrupts, softInterrupts, stolen] = line.split(/ +/).slice(1).map(Number);
  return ((user + nice + system + interrupts + softInterrupts + stolen) * 1000) / TICKS_PER_SECOND;
}
