/** The thread that runs the engine, so that the worker's main thread can always answer. */
import { parentPort, workerData } from 'node:worker_threads';
import type { EngineMessage, EngineThreadData } from './engine-messages.js';
import { prepareStage } from './prepare-stage.js';

const { prepare, abort } = workerData as EngineThreadData;
const flag = new Int32Array(abort);
const say = (message: EngineMessage) => parentPort!.postMessage(message);

const outcome = await prepareStage(prepare, {
  onProgress: (report) => say({ kind: 'progress', ...report }),
  signal: {
    get aborted() {
      return Atomics.load(flag, 0) !== 0;
    },
  },
});
say({ kind: 'prepared', outcome });

// A prepared engine waits here for its edges; without this the thread would end and free it.
parentPort!.on('message', () => {});
