/**
 * Watches the process from a thread of its own, which an endless loop cannot stop: an input that takes too long or too
 * much memory is written down, and the process with it ended.
 */
import { writeFileSync, writeSync } from 'node:fs';
import { workerData } from 'node:worker_threads';

const { shared, headerBytes, seed, failurePath, inputMillis, inputMemoryBytes } = workerData;
const [COUNT, LENGTH] = [0, 1];
const numbers = new Int32Array(shared, 0, 2);
const startMemory = process.memoryUsage.rss();
let seen = { count: 0, since: performance.now() };

function end(why) {
  const input = new Uint8Array(shared, headerBytes, Atomics.load(numbers, LENGTH));
  writeFileSync(failurePath, input);
  writeSync(2, `\nfuzzing with FUZZ_SEED=${seed}: an input ${why}; it was written to ${failurePath}\n`);
  process.kill(process.pid, 'SIGKILL');
}

setInterval(() => {
  const count = Atomics.load(numbers, COUNT);
  if (count === 0) return;
  if (count !== seen.count) seen = { count, since: performance.now() };
  else if (performance.now() - seen.since > inputMillis) end(`was not done after ${inputMillis} ms`);
  if (process.memoryUsage.rss() - startMemory > inputMemoryBytes) end(`took over ${inputMemoryBytes} bytes of memory`);
}, 100);
