import { limits } from '../core/limits.js';
import { deadPeerMillis } from '../grpc/keepalive-options.js';
import type { AgentSessionEnd } from './agent-session.js';

/** What has been tried so far. Milliseconds throughout. */
export interface SessionHistory {
  /** Whether this process was ever welcomed. */
  readonly everWelcomed: boolean;
  /** Sessions in a row that did not last; the one that has just ended is not counted. */
  readonly shortSessions: number;
  /** How long ago the first of the refusals INSTANCE_IN_USE was that have followed each other. */
  readonly inUseFor: number;
}

export type NextSession =
  | { readonly kind: 'retry'; readonly afterMillis: number }
  | { readonly kind: 'give-up'; readonly message: string };

/** Only a person can mend these, and a new agent has nothing to lose by ending. */
const hopeless: ReadonlySet<string> = new Set([
  'NAME_TAKEN',
  'FOREIGN_CLUSTER',
  'PROTOCOL_MISMATCH',
  'NODE_ID_TAKEN',
  'NODE_ID_OUT_OF_RANGE',
  'EPOCH_OUT_OF_RANGE',
  'NOT_ENROLLED',
  'OTHER_INSTANCE',
  'OTHER_NAME',
  'ROLE_MISSING',
  'CERTIFICATE_REVOKED',
  // Of the Hello, which says the same each time: an engine's name that is too long, for one.
  'INVALID_FIELDS',
]);

/**
 * What to do when a session has ended. An agent that was welcomed once holds on for ever: its stages may be running.
 * The wait is drawn from [0, ceiling) with the ceiling doubling (full jitter), so that a thousand agents do not come
 * back in step.
 *
 * @param random from [0, 1)
 */
export function afterSession(end: AgentSessionEnd, history: SessionHistory, random: number): NextSession {
  if (end.kind === 'failed' && !history.everWelcomed) {
    const { reason, message } = end.error;
    if (hopeless.has(reason)) return { kind: 'give-up', message };
    // Whatever the heartbeat, by then the orchestrator has noticed that the other one is dead, or it lives.
    if (reason === 'INSTANCE_IN_USE' && history.inUseFor > deadPeerMillis) return { kind: 'give-up', message };
  }
  const doubled = limits.sessionBackoffMinMillis * 2 ** history.shortSessions;
  const ceiling = Math.min(doubled, limits.sessionBackoffMaxMillis);
  const asked = end.kind === 'sent-away' ? end.retryDelayMillis : 0;
  return { kind: 'retry', afterMillis: asked + random * ceiling };
}
