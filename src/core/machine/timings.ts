/** The periods of the protocol, in milliseconds. All are flags of the orchestrator. */
export interface Timings {
  /** Between two heartbeats of an agent. */
  readonly heartbeat: number;
  /** Without an acknowledged heartbeat for so long an agent stops its workers; 0 is never. */
  readonly lease: number;
  /** A node may be out of contact for so long before its stages are LOST. */
  readonly grace: number;
  /** The grace after the orchestrator has started or stalled: every node has to come back at once. */
  readonly graceAfterStart: number;
  /** A provision must be acknowledged within. */
  readonly acknowledge: number;
  /** A loading stage must make progress within. */
  readonly load: number;
  /** Once every stage is loaded, all edges must be up within. */
  readonly edges: number;
  /** A stop must be confirmed within. */
  readonly stop: number;
  /** A launcher learns the cause of a fault within. */
  readonly cause: number;
}

export const defaultTimings: Timings = {
  heartbeat: 5_000,
  lease: 300_000,
  grace: 30_000,
  graceAfterStart: 60_000,
  acknowledge: 10_000,
  load: 60_000,
  edges: 30_000,
  stop: 30_000,
  cause: 1_000,
};
