import { OK, type StructuredStatus } from './status.js';

/** Whether an engine is well. */
export interface HealthResult {
  readonly status: StructuredStatus;
  /** Whether steps are accepted. */
  readonly serving: boolean;
  /** For people: "UNKNOWN" until the engine knows better. */
  readonly state: string;
  readonly activeSessions: number;
}

/** Counters at one moment. */
export interface MetricsResult {
  readonly status: StructuredStatus;
  readonly activeSessions: number;
  /** Steps that wait for their turn. */
  readonly queuedFrames: number;
  /** Bytes of the inputs of all steps that wait or run. */
  readonly inflightBytes: number;
  /** Positions held by all sessions together. */
  readonly kvEntries: number;
  /** Tokens sampled since the load. */
  readonly generatedTokens: number;
  /** Sessions cancelled since the load. */
  readonly cancelledSessions: number;
}

export function healthResult(fields: Partial<HealthResult> = {}): HealthResult {
  return {
    status: OK,
    serving: false,
    state: 'UNKNOWN',
    activeSessions: 0,
    ...fields,
  };
}

export function metricsResult(fields: Partial<MetricsResult> = {}): MetricsResult {
  return {
    status: OK,
    activeSessions: 0,
    queuedFrames: 0,
    inflightBytes: 0,
    kvEntries: 0,
    generatedTokens: 0,
    cancelledSessions: 0,
    ...fields,
  };
}
