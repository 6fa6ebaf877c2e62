import { randomUUID } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { limits } from '../core/limits.js';
import { isAlive } from '../process/descendants.js';
import { endMarked } from '../process/end-marked.js';
import type { MarkedProcess } from '../process/marked-processes.js';
import { processStart } from '../process/process-start.js';
import { killGroupOf } from './kill-group.js';

/** A process that can be told from a later one with the same id. */
interface KnownProcess {
  readonly pid: number;
  readonly start: string;
}

interface Page {
  readonly agent: KnownProcess;
  /** What the marks of all its workers begin with. */
  readonly mark: string;
  readonly workers: readonly KnownProcess[];
}

/**
 * The workers of an agent, on disk, for the next agent in this data folder (I18). A worker ends when its stdin closes; one
 * that does not, and whose agent was killed, is ended by that next one. Each worker also has a mark in its environment, by
 * which is found what it has started, wherever it went.
 */
export class WorkerRegister {
  readonly #mark = randomUUID();
  #marks = 0;
  readonly #workers = new Map<number, KnownProcess>();

  /** @param path a file, in a folder that no other agent uses */
  constructor(
    readonly path: string,
    readonly logger: Logger,
  ) {}

  /** Ends what an earlier agent left behind. Before any worker is started. */
  async begin(): Promise<void> {
    const earlier = this.#read();
    // A copied folder brings the register of an agent that lives.
    if (earlier && !isThere(earlier.agent)) await this.#endAll(earlier);
    this.#write();
  }

  /** Nothing is left to be found: the agent ends in good order. */
  end(): void {
    if (this.#workers.size > 0) return;
    try {
      rmSync(this.path, { force: true });
    } catch (error) {
      // The next agent finds only processes that are gone.
      this.logger.warn({ err: error }, 'the register of workers cannot be removed');
    }
  }

  /** A mark for one more worker. */
  newMark(): string {
    this.#marks += 1;
    return `${this.#mark}.${this.#marks}`;
  }

  started(pid: number): void {
    const start = processStart(pid);
    if (start === undefined) return;
    this.#workers.set(pid, { pid, start });
    this.#write();
  }

  reaped(pid: number): void {
    if (this.#workers.delete(pid)) this.#write();
  }

  /** A worker left a process behind, outside its own group. It is being ended. */
  strayed(worker: number, { pid, command }: MarkedProcess): void {
    this.logger.warn({ pid, command, workerPid: worker }, 'ending a process that a worker has left behind');
  }

  async #endAll({ mark, workers }: Page): Promise<void> {
    const left = workers.filter(isThere);
    for (const { pid } of left) {
      this.logger.warn({ pid }, 'ending a worker that an earlier agent has left behind');
      killGroupOf(pid);
    }
    const known = new Set(left.map(({ pid }) => pid));
    const patience = AbortSignal.timeout(limits.leftWorkerMillis);
    const found = ({ pid, command, group }: MarkedProcess) => {
      if (!known.has(group))
        this.logger.warn({ pid, command }, 'ending a process that an earlier agent has left behind');
    };
    await endMarked(mark, found, patience);
    while (left.some(isThere) && !patience.aborted) await sleep(limits.strayLookMillis);
    for (const worker of left.filter(isThere)) {
      this.logger.error({ pid: worker.pid }, 'it does not end: its memory and devices are still in use');
      this.#workers.set(worker.pid, worker);
    }
  }

  /** Undefined when there is none, or none that makes sense: power may have failed while it was written. */
  #read(): Page | undefined {
    try {
      const { agent, mark, workers } = JSON.parse(readFileSync(this.path, 'utf8'));
      const known = workers.filter(isKnownProcess);
      return isKnownProcess(agent) && typeof mark === 'string' && mark !== ''
        ? { agent, mark, workers: known }
        : undefined;
    } catch {
      return undefined;
    }
  }

  /** Whole or not at all, but not synced: a machine that loses power has no process left. */
  #write(): void {
    const agent = { pid: process.pid, start: processStart(process.pid) ?? '' };
    const page: Page = { agent, mark: this.#mark, workers: [...this.#workers.values()] };
    try {
      writeFileSync(`${this.path}.new`, `${JSON.stringify(page)}\n`, { mode: 0o600 });
      renameSync(`${this.path}.new`, this.path);
    } catch (error) {
      // A full disk must not stop a stage: most workers end by themselves.
      this.logger.warn({ err: error }, 'the register of workers cannot be written');
    }
  }
}

/** Dead ones that wait to be reaped are gone. */
function isThere({ pid, start }: KnownProcess): boolean {
  return isAlive(pid) && processStart(pid) === start;
}

function isKnownProcess(value: unknown): value is KnownProcess {
  const { pid, start } = (value ?? {}) as Record<string, unknown>;
  // No id that a signal would take for a group, or for everyone.
  return typeof pid === 'number' && Number.isSafeInteger(pid) && pid > 1 && typeof start === 'string';
}
