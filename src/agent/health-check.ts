import type { WorkerTimings } from './worker-timings.js';

export interface HealthQuestions {
  ask(sequence: bigint): void;
  /** @param waited milliseconds */
  silent(waited: number): void;
}

/** Asks a worker how it is, one question at a time. */
export class HealthCheck {
  #timer: NodeJS.Timeout | undefined;
  #sequence = 0n;
  #unansweredSince: number | undefined;

  constructor(
    private readonly timings: Pick<WorkerTimings, 'healthEvery' | 'healthPatience'>,
    private readonly questions: HealthQuestions,
  ) {}

  start(): void {
    this.#timer = setInterval(() => this.#look(), this.timings.healthEvery);
  }

  end(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  answered(sequence: bigint): void {
    if (sequence === this.#sequence) this.#unansweredSince = undefined;
  }

  #look(): void {
    if (this.#unansweredSince === undefined) {
      this.#sequence += 1n;
      this.#unansweredSince = performance.now();
      this.questions.ask(this.#sequence);
    } else if (this.#isOverdue()) {
      // If it was we who slept, the answer waits in the pipe: it is read before an immediate runs.
      setImmediate(() => {
        if (this.#timer && this.#isOverdue()) this.questions.silent(this.timings.healthPatience);
      });
    }
  }

  #isOverdue(): boolean {
    const since = this.#unansweredSince;
    return since !== undefined && performance.now() - since >= this.timings.healthPatience;
  }
}
