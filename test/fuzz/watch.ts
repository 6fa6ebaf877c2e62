import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

const HEADER_BYTES = 8;
const LARGEST_INPUT = 8 * 1024 * 1024;

/** Generous: an honest input takes microseconds, and the machine may have other things to do. */
const INPUT_MILLIS = 20_000;
/** The heap grows before the collector thinks of it; what an input must not do is to ask for what it only claims. */
const INPUT_MEMORY_BYTES = 1536 * 1024 * 1024;

export interface Watch {
  /** The input that is about to be run. */
  begin(input: Uint8Array): void;
  end(): Promise<void>;
}

/** Ends the process when one input takes too long or too much memory, and leaves that input at `failurePath`. */
export async function watch(seed: string, failurePath: string): Promise<Watch> {
  const shared = new SharedArrayBuffer(HEADER_BYTES + LARGEST_INPUT);
  const numbers = new Int32Array(shared, 0, 2);
  const bytes = new Uint8Array(shared, HEADER_BYTES);
  const limits = { inputMillis: INPUT_MILLIS, inputMemoryBytes: INPUT_MEMORY_BYTES };
  const dog = new Worker(new URL('./watchdog.mjs', import.meta.url), {
    workerData: { shared, headerBytes: HEADER_BYTES, seed, failurePath, ...limits },
  });
  await once(dog, 'online');
  return {
    begin(input) {
      bytes.set(input);
      Atomics.store(numbers, 1, input.length);
      Atomics.add(numbers, 0, 1);
    },
    async end() {
      await dog.terminate();
    },
  };
}
