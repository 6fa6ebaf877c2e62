import { isDeepStrictEqual } from 'node:util';
import { refusal } from './admit-step.js';
import { EngineCapabilities } from './engine-capabilities.js';
import type { LoadOptions, LoadRequest, LoadResult } from './load.js';
import { type HealthResult, healthResult, type MetricsResult, metricsResult } from './observations.js';
import { completeRecipe } from './recipe.js';
import type { AnswerSampling } from './sampling.js';
import type { ShardEngine } from './shard-engine.js';
import type { LoadFootprint, LoadLayers, StageLayers } from './stage-layers.js';
import { type NextRows, type RunOutcome, StageSessions } from './stage-sessions.js';
import { failure, OK, type StructuredStatus } from './status.js';
import type { StepResult } from './step-result.js';
import type { DecodeRequest, PrefillRequest } from './steps.js';

type State =
  | { readonly kind: 'unloaded' }
  | {
      readonly kind: 'loading';
      readonly request: LoadRequest;
      readonly result: Promise<LoadResult>;
    }
  | {
      readonly kind: 'loaded';
      readonly request: LoadRequest;
      readonly sessions: StageSessions;
    };

const notLoaded = failure('NOT_LOADED', 'this engine holds no layers yet: load some first');

/** A `ShardEngine` around anything that can load and run layers. */
export class SessionEngine implements ShardEngine {
  #state: State = { kind: 'unloaded' };

  constructor(readonly loadLayers: LoadLayers) {}

  /** What the engine measured when it had loaded; undefined until then. */
  get footprint(): LoadFootprint | undefined {
    return this.#state.kind === 'loaded' ? this.#state.sessions.layers.footprint : undefined;
  }

  async load(request: LoadRequest, options: LoadOptions = {}): Promise<LoadResult> {
    const state = this.#state;
    if (state.kind === 'unloaded') {
      const result = this.#load(request, options);
      this.#state = { kind: 'loading', request, result };
      return result;
    }
    if (!isDeepStrictEqual(state.request, request)) {
      const { shardStart, shardEnd, artifactPath } = state.request;
      const message = `this engine holds layers ${shardStart} to ${shardEnd} of ${artifactPath}: use another engine`;
      return loadFailed(failure('FAILED_PRECONDITION', message));
    }
    return state.kind === 'loading' ? state.result : loadSucceeded(state.sessions.layers);
  }

  capabilities(): EngineCapabilities {
    return this.#state.kind === 'loaded' ? this.#state.sessions.stage : new EngineCapabilities({ status: notLoaded });
  }

  async prefill(request: PrefillRequest): Promise<StepResult> {
    return this.#step(request);
  }

  async decode(request: DecodeRequest): Promise<StepResult> {
    return this.#step(request);
  }

  /** What a stage does with the rows of its edge, without the requests and answers of the contract. */
  runNext(next: NextRows): RunOutcome | Promise<RunOutcome> {
    return this.#state.kind === 'loaded' ? this.#state.sessions.runNext(next) : { kind: 'failed', status: notLoaded };
  }

  /** How the last stage picks the tokens of a session from here on; undefined goes back to the recipe. */
  sample(sessionId: string, sampling: AnswerSampling | undefined): void {
    if (this.#state.kind === 'loaded') this.#state.sessions.sample(sessionId, sampling);
  }

  cancel(sessionId: string, options: { readonly workId?: string; readonly reason?: string } = {}): StructuredStatus {
    return this.#state.kind === 'loaded' ? this.#state.sessions.cancel(sessionId, options.workId) : notLoaded;
  }

  release(sessionId: string): StructuredStatus {
    return this.#state.kind === 'loaded' ? this.#state.sessions.release(sessionId) : OK;
  }

  /** Drops what a session holds from `position` on; CACHE_MISS when it holds less, or cannot go back and was dropped. */
  truncate(sessionId: string, position: number): StructuredStatus {
    return this.#state.kind === 'loaded' ? this.#state.sessions.truncate(sessionId, position) : notLoaded;
  }

  health(): HealthResult {
    switch (this.#state.kind) {
      case 'unloaded':
        return healthResult({ status: notLoaded, state: 'UNLOADED' });
      case 'loading':
        return healthResult({ status: notLoaded, state: 'LOADING' });
      case 'loaded':
        return healthResult({
          serving: true,
          state: 'SERVING',
          activeSessions: this.#state.sessions.table.active,
        });
    }
  }

  metrics(): MetricsResult {
    if (this.#state.kind !== 'loaded') return metricsResult({ status: notLoaded });
    const { table, queue, generatedTokens, cancelledSessions } = this.#state.sessions;
    return metricsResult({
      activeSessions: table.active,
      queuedFrames: queue.waiting,
      inflightBytes: queue.bytes,
      kvEntries: table.positions,
      generatedTokens,
      cancelledSessions,
    });
  }

  /** Frees the layers, once the steps that wait have been ended; the engine can load others then. */
  async close(): Promise<void> {
    const state = this.#state;
    if (state.kind !== 'loaded') return;
    this.#state = { kind: 'unloaded' };
    await state.sessions.close();
  }

  #step(request: PrefillRequest | DecodeRequest): Promise<StepResult> | StepResult {
    if (this.#state.kind !== 'loaded') return refusal('NOT_LOADED', notLoaded.message);
    return this.#state.sessions.step(request);
  }

  async #load(request: LoadRequest, options: LoadOptions): Promise<LoadResult> {
    const outcome = await this.loadLayers(request, options).catch((error: unknown) => ({
      kind: 'failed' as const,
      status: failure('INTERNAL', `the engine failed while it loaded ${request.artifactPath}: ${error}`),
    }));
    if (outcome.kind === 'failed') {
      this.#state = { kind: 'unloaded' };
      return loadFailed(outcome.status);
    }
    const recipe = completeRecipe(request.recipe);
    const stage = new EngineCapabilities({
      status: OK,
      shardStart: request.shardStart,
      shardEnd: request.shardEnd,
      effectiveStart: outcome.layers.effectiveStart,
      totalLayers: request.totalLayers,
      architecture: outcome.layers.architecture,
      maxConcurrentSessions: recipe.sessions,
      maxContextTokens: recipe.contextLength,
    });
    this.#state = {
      kind: 'loaded',
      request,
      sessions: new StageSessions(outcome.layers, stage, recipe.microBatch),
    };
    return loadSucceeded(outcome.layers);
  }
}

function loadSucceeded(layers: StageLayers): LoadResult {
  return {
    status: OK,
    effectiveStart: layers.effectiveStart,
    architecture: layers.architecture,
  };
}

function loadFailed(status: StructuredStatus): LoadResult {
  return { status, effectiveStart: 0, architecture: '' };
}
