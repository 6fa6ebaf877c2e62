import type { Logger } from 'pino';
import { limits } from '../core/limits.js';
import type { WorkerProcess } from './worker-process.js';

export interface WorkerPoolOptions {
  readonly start: () => WorkerProcess;
  /** Workers kept ready; 0 keeps none. */
  readonly warm: number;
  readonly logger: Logger;
}

/** Workers that are started ahead of need, so that a provision does not wait for a process. */
export class WorkerPool {
  readonly #idle = new Set<WorkerProcess>();
  #refill: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(private readonly options: WorkerPoolOptions) {}

  get idle(): number {
    return this.#idle.size;
  }

  /** Adds a worker that is there already. */
  keep(worker: WorkerProcess): void {
    this.#idle.add(worker);
    void worker.reaped.then(() => {
      if (!this.#idle.delete(worker) || this.#closed) return;
      // Not refilled here: a program that ends at once would be started for ever. The next need starts one.
      this.options.logger.warn({ pid: worker.pid, logTail: worker.logTail }, 'idle worker ended');
    });
  }

  fill(): void {
    while (!this.#closed && this.#idle.size < this.options.warm) this.keep(this.options.start());
  }

  /** A worker for one stage: a warm one, or one that is only being started. */
  take(): WorkerProcess {
    for (const worker of this.#idle) {
      this.#idle.delete(worker);
      if (worker.isUsable) {
        this.#refillLater();
        return worker;
      }
    }
    this.#refillLater();
    return this.options.start();
  }

  /** Ends the idle ones; resolves when they are reaped. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#refill);
    const workers = [...this.#idle];
    for (const worker of workers) worker.kill();
    await Promise.all(workers.map((worker) => worker.reaped));
  }

  #refillLater(): void {
    if (this.#closed || this.options.warm === 0) return;
    clearTimeout(this.#refill);
    this.#refill = setTimeout(() => this.fill(), limits.warmWorkerDelayMillis);
  }
}
