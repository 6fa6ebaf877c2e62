import { type StageFault, StageFaultReason } from '../../../gen/stageplane/v1/run.js';
import { millis, type NodeId } from '../ids.js';
import { limits } from '../limits.js';
import type { Draft } from './draft.js';
import { remnantKey, settleRemnant } from './remnants.js';
import { keyOf, moveStage, noteFault, settleRun } from './run-lifecycle.js';
import { isLive } from './run-transitions.js';
import { nextStagePhase } from './stage-transitions.js';
import type { Contact } from './state.js';

/** The node is out of contact. Its stages may well go on: nothing changes until the grace is over. */
export function startGrace(draft: Draft, id: NodeId, period: number): void {
  const contact = draft.contact(id);
  if (!contact) return;
  const graceEndsAt = millis(draft.now + period);
  const { session: _session, reconciledAt: _reconciledAt, processId: _processId, ...rest } = contact;
  draft.putContact(id, { ...rest, graceEndsAt });
  draft.arm({ kind: 'grace', nodeId: id }, graceEndsAt);
}

/** The loop itself was away: silence in that time says nothing about the nodes, so all graces start anew. */
export function restartGraces(draft: Draft): void {
  const waiting = [...draft.allNodeIds()].filter((id) => isAway(draft.contact(id)));
  for (const id of waiting) startGrace(draft, id, draft.rules.timings.graceAfterStart);
}

export function graceElapsed(draft: Draft, id: NodeId): void {
  const contact = draft.contact(id);
  if (!contact || contact.graceEndsAt === undefined || contact.lost) return;
  if (draft.now < contact.graceEndsAt) return draft.arm({ kind: 'grace', nodeId: id }, contact.graceEndsAt);
  if (!contact.graceExtended && isMassLoss(draft)) extendGraces(draft);
  else loseNode(draft, id, contact);
}

/** Lease and margin have passed since the last contact: the agent has stopped its workers by itself. */
export function fenceElapsed(draft: Draft, id: NodeId): void {
  const contact = draft.contact(id);
  const at = contact && fenceAt(draft, contact);
  if (!contact?.lost || at === undefined) return;
  if (draft.now < at) return draft.arm({ kind: 'fence', nodeId: id }, at);
  fenceStages(draft, id);
}

/** No worker of the node is left, whatever it was: what its LOST stages reserved is free (I7). */
export function fenceStages(draft: Draft, id: NodeId): void {
  for (const run of draft.runsOn(id)) {
    for (const stage of run.stages) {
      if (stage.nodeId === id && stage.phase === 'LOST') moveStage(draft, keyOf(run, stage), 'node-fenced');
    }
    for (const remnant of run.remnants) {
      if (remnant.stage.nodeId === id) settleRemnant(draft, remnantKey(run, remnant), 'node-fenced');
    }
  }
}

/** Its grace is over, or an operator says that it is: its runs fault. */
export function loseNode(draft: Draft, id: NodeId, contact: Contact, message = silence(draft, id, contact)): void {
  draft.putContact(id, { ...contact, lost: true });
  const name = draft.node(id)?.name ?? String(id);
  const fault: StageFault = {
    reason: StageFaultReason.STAGE_FAULT_REASON_NODE_LOST,
    message,
    logTail: [],
  };
  for (const run of draft.runsOn(id)) {
    const lost = run.stages.filter((stage) => stage.nodeId === id && stage.phase !== 'STOPPED');
    for (const stage of lost) {
      const key = keyOf(run, stage);
      if (nextStagePhase(stage.phase, 'grace-elapsed')) moveStage(draft, key, 'grace-elapsed');
      if (isLive(run.phase)) noteFault(draft, key, fault, 'agent');
    }
    settleRun(draft, run.runId);
  }
  const at = fenceAt(draft, contact);
  if (at !== undefined) draft.arm({ kind: 'fence', nodeId: id }, at);
  draft.say('warn', 'node lost', { nodeId: id, nodeName: name, why: message });
}

function silence(draft: Draft, id: NodeId, { lastHeard }: Contact): string {
  const seconds = Math.round((draft.now - lastHeard) / 1000);
  return `node "${draft.node(id)?.name ?? id}" was out of contact for ${seconds} s: see whether its machine and agent are up`;
}

function fenceAt(draft: Draft, contact: Contact) {
  const { lease } = draft.rules.timings;
  if (lease === 0) return undefined;
  return millis(contact.lastHeard + lease + Math.max(lease / 10, limits.fenceMarginMillis));
}

/** More than half of a larger pool at once is rather our own network than their machines. */
function isMassLoss(draft: Draft): boolean {
  const ids = [...draft.allNodeIds()].filter((id) => draft.contact(id)?.lost === false);
  const away = ids.filter((id) => isAway(draft.contact(id)));
  return ids.length >= limits.massLossNodes && away.length * 2 > ids.length;
}

function extendGraces(draft: Draft): void {
  const away = [...draft.allNodeIds()].filter((id) => isAway(draft.contact(id)));
  for (const id of away) {
    const contact = draft.contact(id)!;
    const graceEndsAt = millis(contact.lastHeard + Math.max(draft.rules.timings.lease, 2 * draft.rules.timings.grace));
    draft.putContact(id, { ...contact, graceEndsAt, graceExtended: true });
    draft.arm({ kind: 'grace', nodeId: id }, graceEndsAt);
  }
  const message = 'more than half of the nodes are out of contact; their grace is extended once';
  draft.say('warn', message, { nodes: away.length });
}

/** Out of contact, and not lost yet: it may come back. */
export function isAway(contact: Contact | undefined): boolean {
  return contact !== undefined && contact.session === undefined && !contact.lost;
}
