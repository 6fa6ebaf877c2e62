import { StageFaultReason, type RunCause as WireRunCause } from '../../../gen/stageplane/v1/run.js';
import type { NodeState, RunCause } from './state.js';

/** A neighbour's complaint: it tells that something broke elsewhere, not what. */
const secondary = new Set([
  StageFaultReason.STAGE_FAULT_REASON_EDGE_CLOSED,
  StageFaultReason.STAGE_FAULT_REASON_PEER_LOST,
]);

/** A primary cause is final at once: no later fault can outrank it. */
export function isPrimary(cause: Pick<RunCause, 'fault'>): boolean {
  return !secondary.has(cause.fault.reason);
}

/** The better of two causes: primary wins over secondary, then the lower revision. */
export function betterCause(known: RunCause, candidate: RunCause): RunCause {
  if (known.fixed) return known;
  if (isPrimary(known) !== isPrimary(candidate)) return isPrimary(known) ? known : candidate;
  return known.revision <= candidate.revision ? known : candidate;
}

/** The cause as launchers see it. */
export function wireCause(cause: RunCause, node: NodeState | undefined): WireRunCause {
  return {
    reason: cause.fault.reason,
    stageIndex: cause.stageIndex,
    nodeId: cause.nodeId,
    nodeName: node?.name ?? '',
    component: cause.component,
    message: cause.fault.message,
    logTail: cause.fault.logTail,
    revision: cause.revision,
  };
}
