import { Worker } from 'node:worker_threads';
import type { StageUsage } from '../../gen/stageplane/v1/run.js';
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
  readonly #busySince = new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT);
  readonly #held = new SharedArrayBuffer(2 * BigInt64Array.BYTES_PER_ELEMENT);
  readonly #thread: Worker;
  #listener: EngineListener | undefined;

  constructor(module: URL, prepare: PrepareStage, listener: EngineListener) {
    this.#listener = listener;
    const workerData: EngineThreadData = { prepare, abort: this.#abort, busySince: this.#busySince, held: this.#held };
    // With a stdout of its own, nothing that the thread prints gets between the lines of the protocol.
    this.#thread = new Worker(module, { workerData, stdout: true });
    this.#thread.stdout.pipe(process.stderr);
    this.#thread.on('message', (message: EngineMessage) => this.#listener?.onMessage(message));
    this.#thread.on('error', (error) => this.#ended(error as Error));
    this.#thread.on('exit', (code) => this.#ended(new Error(`the engine thread ended with code ${code}`)));
  }

  /** Milliseconds that the engine has been at its current step, which is one micro-batch at most; 0 while it waits. */
  stepMillis(): number {
    const since = Atomics.load(new BigInt64Array(this.#busySince), 0);
    return since === 0n ? 0 : Number((process.hrtime.bigint() - since) / 1_000_000n);
  }

  /** What the stage held after its newest step. */
  usage(): StageUsage {
    const words = new BigInt64Array(this.#held);
    return { heldSessions: Number(Atomics.load(words, 0)), heldTokens: Atomics.load(words, 1) };
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
