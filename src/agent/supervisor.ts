import type { Logger } from 'pino';
import type { HeldStageUsage } from '../../gen/stageplane/v1/node_agent_service.js';
import type { WorkerCommand } from '../../gen/stageplane/v1/worker.js';
import type { AgentEvent } from '../core/machine/agent/events.js';
import { stageName } from '../core/machine/agent/state.js';
import type { StageKey } from '../core/machine/state.js';
import type { StageLogs } from './stage-logs.js';
import type { WorkerListener, WorkerProcess } from './worker-process.js';

export interface SupervisorOptions {
  /** A process that has said hello, or will. */
  readonly takeWorker: () => WorkerProcess;
  readonly logs: StageLogs;
  /** Told what becomes of each worker. */
  readonly tell: (event: AgentEvent) => void;
  readonly logger: Logger;
}

/** One process per provision, from its start until it is reaped. Decides nothing: the machine does. */
export class Supervisor {
  readonly #workers = new Map<string, WorkerProcess>();
  /** What the stages of living workers hold, by their newest answer to a health check. */
  readonly #usage = new Map<string, Omit<HeldStageUsage, 'residentBytes'>>();

  constructor(private readonly options: SupervisorOptions) {}

  start(key: StageKey): void {
    const name = stageName(key);
    if (this.#workers.has(name)) throw new Error(`${name} has a worker already (I3)`);
    const worker = this.options.takeWorker();
    this.#workers.set(name, worker);
    worker.logTo(this.options.logs.create(key, new Set(this.#workers.keys())));
    this.options.logger.info({ ...key, pid: worker.pid }, 'worker started');
    worker.listen(this.#listener(key));
  }

  command(key: StageKey, command: WorkerCommand): void {
    this.#workers.get(stageName(key))?.send(command);
  }

  stop(key: StageKey, reason: string): void {
    this.#workers.get(stageName(key))?.stop(reason);
  }

  kill(key: StageKey): void {
    this.#workers.get(stageName(key))?.kill();
  }

  /** Process ids by stage, of workers that are alive. */
  pids(): Map<string, number> {
    const pids = new Map<string, number>();
    for (const [name, { pid }] of this.#workers) if (pid !== undefined) pids.set(name, pid);
    return pids;
  }

  /**
   * Of the workers that have said it.
   *
   * @param residentBytes what each worker holds on its stage's device, by stage, as `UsageMeter` measured it
   */
  usage(residentBytes: ReadonlyMap<string, bigint>): HeldStageUsage[] {
    return [...this.#usage].map(([name, held]) => ({ ...held, residentBytes: residentBytes.get(name) ?? 0n }));
  }

  /** The last lines of a stage's log; empty when the agent has no such log. */
  log(key: StageKey, maxLines: number): string[] {
    return this.options.logs.read(key, maxLines) ?? this.#workers.get(stageName(key))?.logTail.slice(-maxLines) ?? [];
  }

  #listener(key: StageKey): WorkerListener {
    const { tell, logger } = this.options;
    return {
      greeted: (hello) => tell({ kind: 'worker-greeted', key, hello }),
      loading: (progress) => tell({ kind: 'worker-loading', key, progress }),
      ready: (footprint) => tell({ kind: 'worker-ready', key, footprint }),
      faulted: (fault) => tell({ kind: 'worker-faulted', key, fault }),
      healthy: (busyMillis, usage) => {
        if (usage) this.#usage.set(stageName(key), { ...key, usage });
        tell({ kind: 'worker-healthy', key, busyMillis });
      },
      failed: (failure, logTail) => tell({ kind: 'worker-failed', key, failure, logTail }),
      exited: (exit, logTail) => {
        this.#workers.delete(stageName(key));
        this.#usage.delete(stageName(key));
        logger.info({ ...key, ...exit }, 'worker ended');
        tell({ kind: 'worker-exited', key, exit, logTail });
      },
    };
  }
}
