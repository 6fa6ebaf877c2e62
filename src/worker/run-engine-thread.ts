import { parentPort, workerData } from 'node:worker_threads';
import type { EngineList } from './engine/engines.js';
import type { EngineMessage, EngineThreadData } from './engine-messages.js';
import { runStage } from './run-stage.js';

/** In the thread that runs the engine and its edges, so that the worker's main thread can always answer. */
export async function runEngineThread(engines: EngineList): Promise<void> {
  const { prepare, abort, busySince, held } = workerData as EngineThreadData;
  const abortWord = new Int32Array(abort);
  const busyWord = new BigInt64Array(busySince);
  const heldWords = new BigInt64Array(held);

  // A prepared engine waits for its edges, or for nothing; without this the thread would end and free it.
  parentPort!.on('message', () => {});

  await runStage(prepare, engines, {
    say: (message: EngineMessage) => parentPort!.postMessage(message),
    isAborted: () => Atomics.load(abortWord, 0) !== 0,
    busy: (isBusy) => void Atomics.store(busyWord, 0, isBusy ? process.hrtime.bigint() : 0n),
    holds: ({ heldSessions, heldTokens }) => {
      Atomics.store(heldWords, 1, heldTokens);
      Atomics.store(heldWords, 0, BigInt(heldSessions));
    },
  });
}
