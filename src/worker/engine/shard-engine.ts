import type { EngineCapabilities } from './engine-capabilities.js';
import type { LoadOptions, LoadRequest, LoadResult } from './load.js';
import type { HealthResult, MetricsResult } from './observations.js';
import type { StructuredStatus } from './status.js';
import type { StepResult } from './step-result.js';
import type { DecodeRequest, PrefillRequest } from './steps.js';

/**
 * The one seam between a stage worker and whatever runs the layers. No type of a library and none of the wire crosses it.
 *
 * A request is checked when it is constructed, and a malformed one throws `EngineError` there. Everything that happens
 * afterwards is a result with a status: no method throws or rejects.
 */
export interface ShardEngine {
  /** Loads one range of one file. The same request again answers the same and reads nothing; another one is refused. */
  load(request: LoadRequest, options?: LoadOptions): Promise<LoadResult>;

  /** NOT_LOADED until `load` has succeeded. */
  capabilities(): EngineCapabilities;

  /** Runs several rows of one session. Position 0 begins the session, or begins it anew. */
  prefill(request: PrefillRequest): Promise<StepResult>;

  /** Runs the next row of a session. */
  decode(request: DecodeRequest): Promise<StepResult>;

  /**
   * Ends what a session has in flight, at the next micro-batch boundary. Without `workId` the session accepts no further
   * step until it is released; with `workId`, a decimal `idempotencyStep`, only that step ends and leaves no trace.
   */
  cancel(sessionId: string, options?: { readonly workId?: string; readonly reason?: string }): StructuredStatus;

  /** Forgets a session and everything that is held for it. OK for a session that nobody knows. */
  release(sessionId: string): StructuredStatus;

  /** Answers at once, also in the middle of a step. */
  health(): HealthResult;

  /** What was done since the load; at once. */
  metrics(): MetricsResult;
}
