import { StageFaultReason, type RunCause as WireRunCause } from '../../../gen/stageplane/v1/run.js';
import { clipText } from '../clip-text.js';
import type { NodeId } from '../ids.js';
import { limits } from '../limits.js';
import type { Contact, NodeState, RunCause, RunState } from './state.js';

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

/**
 * The cause that a neighbour's complaint points at: a stage whose node fell silent and cannot complain itself. Undefined
 * when there is none. A node that was not heard of since our own start is not silent: we were.
 */
export function silentCause(
  run: RunState,
  complaint: RunCause,
  contactOf: (id: NodeId) => Contact | undefined,
  nameOf: (id: NodeId) => string,
): RunCause | undefined {
  const isSilent = (contact: Contact | undefined) =>
    contact !== undefined && contact.session === undefined && contact.lastHeardWall !== undefined;
  const silent = run.stages.find(
    ({ phase, nodeId }) => phase !== 'STOPPED' && nodeId !== complaint.nodeId && isSilent(contactOf(nodeId)),
  );
  if (!silent) return undefined;
  const what = `node "${nameOf(silent.nodeId)}" went out of contact, and stage ${silent.index} with it`;
  return {
    ...complaint,
    fault: {
      reason: StageFaultReason.STAGE_FAULT_REASON_PEER_LOST,
      message: clipText(`${what}: ${complaint.fault.message}`, limits.faultMessageBytes),
      // What the complaint brought are the lines of whoever complained.
      logTail: [],
    },
    stageIndex: silent.index,
    nodeId: silent.nodeId,
    component: 'agent',
  };
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
