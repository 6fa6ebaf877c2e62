import type { RunId } from '../../core/ids.js';
import type { ClusterEvent } from '../../core/machine/events.js';
import type { RunState } from '../../core/machine/state.js';
import { type EndpointSurroundings, RunEndpoint } from './run-endpoint.js';

/** The token endpoints of live runs, as the performer and the services have them. */
export interface TokenEndpoints {
  open(run: RunState): void;
  close(runId: RunId, generation: number, reason: string): void;
  beginAnswer(runId: RunId, generation: number): void;
  awaitQuiet(runId: RunId, generation: number): void;
  /** Undefined when the run has none, which is so when it is not live. */
  find(runId: RunId): RunEndpoint | undefined;
  /** Resolves when no process is left. */
  stop(): Promise<void>;
}

/** One endpoint process per run, and what becomes of each told as events. */
export class EndpointProcesses implements TokenEndpoints {
  readonly #endpoints = new Map<RunId, RunEndpoint>();
  readonly #closing = new Set<Promise<void>>();

  constructor(
    private readonly around: EndpointSurroundings,
    private readonly post: (event: ClusterEvent) => void,
  ) {}

  open(run: RunState): void {
    const { runId, generation } = run;
    const endpoint = new RunEndpoint(run, this.around, {
      ready: () => this.post({ kind: 'token-endpoint-ready', runId, generation }),
      lost: (fault) => this.post({ kind: 'token-endpoint-lost', runId, generation, fault }),
      quiet: () => this.post({ kind: 'token-endpoint-quiet', runId, generation }),
      answered: (answer) => this.post({ kind: 'answer-ended', runId, generation, answer }),
      refused: (fault) => this.post({ kind: 'answer-failed', runId, generation, fault }),
    });
    this.#endpoints.set(runId, endpoint);
  }

  close(runId: RunId, generation: number, reason: string): void {
    const endpoint = this.#current(runId, generation);
    if (endpoint === undefined) return;
    this.#endpoints.delete(runId);
    this.#end(endpoint, reason);
  }

  beginAnswer(runId: RunId, generation: number): void {
    this.#current(runId, generation)?.beginAnswer();
  }

  awaitQuiet(runId: RunId, generation: number): void {
    this.#current(runId, generation)?.awaitQuiet();
  }

  find(runId: RunId): RunEndpoint | undefined {
    return this.#endpoints.get(runId);
  }

  async stop(): Promise<void> {
    for (const endpoint of this.#endpoints.values()) this.#end(endpoint, 'the orchestrator is stopping');
    this.#endpoints.clear();
    await Promise.all(this.#closing);
  }

  #current(runId: RunId, generation: number): RunEndpoint | undefined {
    const endpoint = this.#endpoints.get(runId);
    return endpoint?.run.generation === generation ? endpoint : undefined;
  }

  #end(endpoint: RunEndpoint, reason: string): void {
    const closing = endpoint.close(reason).finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }
}
