import { Worker } from 'node:worker_threads';
import type { PrepareStage } from '../../gen/stageplane/v1/worker.js';
import type { EngineMessage, EngineThreadData } from './engine-messages.js';

/** What the host tells of its thread. After `onEnd` nothing more comes. */
export interface EngineListener {
  onMessage(message: EngineMessage): void;
  /** The thread ended by itself: with an exception that nobody caught, or without one. */
  onEnd(error: Error): void;
}

/** Owns the engine thread from its start to its end. */
export class EngineHost {
  readonly #abort = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  readonly #thread: Worker;
  #listener: EngineListener | undefined;

  constructor(prepare: PrepareStage, listener: EngineListener) {
    this.#listener = listener;
    const workerData: EngineThreadData = { prepare, abort: this.#abort };
    // With a stdout of its own, nothing that the thread prints gets between the lines of the protocol.
    this.#thread = new Worker(new URL('./engine-thread.js', import.meta.url), { workerData, stdout: true });
    this.#thread.stdout.pipe(process.stderr);
    this.#thread.on('message', (message: EngineMessage) => this.#listener?.onMessage(message));
    this.#thread.on('error', (error) => this.#ended(error as Error));
    this.#thread.on('exit', (code) => this.#ended(new Error(`the engine thread ended with code ${code}`)));
  }

  /** Ends the thread in the middle of whatever it does, and frees what it holds. */
  async stop(): Promise<void> {
    this.#listener = undefined;
    Atomics.store(new Int32Array(this.#abort), 0, 1);
    await this.#thread.terminate();
  }

  #ended(error: Error): void {
    const listener = this.#listener;
    this.#listener = undefined;
    listener?.onEnd(error);
  }
}
