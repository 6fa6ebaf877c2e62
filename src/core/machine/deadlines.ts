import { StageFaultReason } from '../../../gen/stageplane/v1/run.js';
import type { NodeId, RunId } from '../ids.js';
import { restartDue } from './begin-again.js';
import type { Draft } from './draft.js';
import { advanceDrain } from './drain.js';
import { edgeDeadline, missedEdges } from './edge-deadline.js';
import type { Timer } from './events.js';
import { fenceElapsed, graceElapsed, startGrace } from './grace.js';
import { armEdges, armStage, faultRun, faultStage, findStage, fixCause, keyOf, settleRun } from './run-lifecycle.js';
import { stageDeadline } from './stage-deadline.js';
import type { StageKey, StageState } from './state.js';

/** A timer is a hint: whether its moment has come is decided here, from the state. */
export function timerFired(draft: Draft, timer: Timer): void {
  switch (timer.kind) {
    case 'stage':
      return stageTimerFired(draft, timer);
    case 'grace':
      return graceElapsed(draft, timer.nodeId);
    case 'fence':
      return fenceElapsed(draft, timer.nodeId);
    case 'cause':
      return fixCause(draft, timer.runId);
    case 'edges':
      return edgeTimerFired(draft, timer.runId);
    case 'restart':
      return restartDue(draft, timer.runId);
    case 'drain':
      return advanceDrain(draft, timer.nodeId);
  }
}

function stageTimerFired(draft: Draft, key: StageKey): void {
  const stage = findStage(draft, key)?.stage;
  const deadline = stage && stageDeadline(stage, draft.contact(stage.nodeId), draft.rules.timings);
  if (!stage || !deadline) return;
  if (draft.now < deadline.at) return armStage(draft, key);
  const where = nameOf(draft, key, stage);
  if (deadline.reason === undefined) return abandonSession(draft, stage.nodeId, `${where} ${deadline.missed}`);
  const message = `${where} ${deadline.missed}: look at the agent's log there`;
  faultStage(draft, key, 'deadline-elapsed', { reason: deadline.reason, message, logTail: [] }, 'orchestrator');
  settleRun(draft, key.runId);
}

/** The edges of a run that is loaded did not come up: the first stage that waits for its own is to blame. */
function edgeTimerFired(draft: Draft, id: RunId): void {
  const run = draft.run(id);
  const deadline = run && edgeDeadline(run, (nodeId) => draft.contact(nodeId), draft.rules.timings);
  if (!run || !deadline) return;
  if (draft.now < deadline.at) return armEdges(draft, id);
  const { waiting } = deadline;
  const fault = {
    reason: StageFaultReason.STAGE_FAULT_REASON_EDGE_DEADLINE,
    message: missedEdges(run, waiting, draft.rules.timings, (nodeId) => draft.node(nodeId)?.name ?? String(nodeId)),
    logTail: [],
  };
  if (!waiting) return faultRun(draft, id, fault, 'token-endpoint');
  faultStage(draft, keyOf(run, waiting), 'deadline-elapsed', fault, 'orchestrator');
  settleRun(draft, id);
}

/** A node that does not confirm a stop is treated as out of contact: grace decides (I20). */
function abandonSession(draft: Draft, id: NodeId, message: string): void {
  const session = draft.contact(id)?.session;
  if (session === undefined) return;
  draft.endSession(session);
  draft.perform({
    kind: 'close-session',
    session,
    why: { code: 'ABORTED', reason: 'STOP_DEADLINE', message },
  });
  startGrace(draft, id, draft.rules.timings.grace);
}

function nameOf(draft: Draft, key: StageKey, stage: StageState): string {
  return `stage ${key.stageIndex} of run ${key.runId} on node "${draft.node(stage.nodeId)?.name ?? stage.nodeId}"`;
}
