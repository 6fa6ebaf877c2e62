import { WorkerHello } from '../../gen/stageplane/v1/worker.js';
import type { AgentEvent } from '../../src/core/machine/agent/events.js';
import type { StageKey } from '../../src/core/machine/state.js';
import { WORKER_PROTOCOL } from '../../src/core/protocols.js';

const LOAD_MILLIS = 30;
const footprint = { bytesRead: 1n, bytesDigest: '', deviceBytes: 0n, hostBytes: 0n };

/** What a supervisor would tell of a worker process, without the process. */
export class StandInWorker {
  #timer: NodeJS.Timeout | undefined;
  #isGone = false;
  /** Called once, at the moment when nothing of it is left. */
  onGone: () => void = () => {};

  constructor(
    private readonly key: StageKey,
    private readonly tell: (event: AgentEvent) => void,
  ) {
    const hello = WorkerHello.create({ protocol: WORKER_PROTOCOL, engines: ['fixture'] });
    this.#next(1, () => tell({ kind: 'worker-greeted', key, hello }));
  }

  prepare(): void {
    const { key } = this;
    this.#next(LOAD_MILLIS, () => {
      this.tell({ kind: 'worker-loading', key, progress: { phase: 1, bytesDone: 1n, bytesTotal: 1n } });
      this.tell({ kind: 'worker-ready', key, footprint });
    });
  }

  stop(): void {
    this.#next(5, () => this.#exit(0, null));
  }

  /** It ends by itself, or is killed. */
  die(): void {
    this.#next(1, () => this.#exit(null, 'SIGKILL'));
  }

  /** Its agent is gone, and nobody is told. */
  vanish(): void {
    clearTimeout(this.#timer);
    this.#gone();
  }

  #exit(code: number | null, signal: string | null): void {
    this.#gone();
    this.tell({ kind: 'worker-exited', key: this.key, exit: { code, signal, wasKilled: false }, logTail: [] });
  }

  #gone(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.onGone();
  }

  #next(millis: number, act: () => void): void {
    if (this.#isGone) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(act, millis);
  }
}
