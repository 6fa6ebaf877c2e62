import { type HeldStage, HeldStagePhase } from '../../../gen/stageplane/v1/node_agent_service.js';
import { StageFaultReason } from '../../../gen/stageplane/v1/run.js';
import { type NodeId, runId, type SessionId } from '../ids.js';
import { sendStop } from './dispatch.js';
import type { Draft } from './draft.js';
import { findRemnant, remnantKey, settleRemnant } from './remnants.js';
import { armEdges, armStage, faultStage, findStage, keyOf, moveStage, settleRun } from './run-lifecycle.js';
import { stageReady } from './stage-ready.js';
import type { StageKey } from './state.js';

/**
 * Compares what an agent holds with what the store says, from state alone: lost and repeated messages stop mattering.
 * What is known and current is kept; what is foreign, old or finished is stopped; what is missing is sent by the
 * dispatch that follows, or is a fault.
 */
export function reconcile(draft: Draft, id: NodeId, session: SessionId, held: readonly HeldStage[]): void {
  const seen = new Set<string>();
  for (const entry of held) {
    const key: StageKey = {
      runId: runId(entry.runId),
      stageIndex: entry.stageIndex,
      generation: entry.generation,
    };
    if (findRemnant(draft, key)?.stage.nodeId === id) {
      seen.add(nameOf(key));
      // Any other is stopped by the dispatch that follows.
      if (entry.phase === HeldStagePhase.HELD_STAGE_PHASE_STOPPED) settleRemnant(draft, key, 'stage-stopped');
      continue;
    }
    const found = findStage(draft, key);
    if (!found || found.stage.nodeId !== id || found.stage.phase === 'STOPPED') {
      if (entry.phase !== HeldStagePhase.HELD_STAGE_PHASE_STOPPED) endForeign(draft, session, key);
      continue;
    }
    seen.add(nameOf(key));
    takeEntry(draft, key, entry);
  }
  for (const run of draft.runsOn(id)) {
    for (const stage of run.stages) {
      const key = keyOf(run, stage);
      if (stage.nodeId === id && !seen.has(nameOf(key))) missStage(draft, key);
    }
    for (const remnant of run.remnants) {
      const key = remnantKey(run, remnant);
      if (remnant.stage.nodeId === id && !seen.has(nameOf(key))) settleRemnant(draft, key, 'absence-confirmed');
    }
    settleRun(draft, run.runId);
    armEdges(draft, run.runId);
  }
}

/** Of a generation that was lost with an older copy, or on a node that was deleted: no other begins beside it (I3). */
function endForeign(draft: Draft, session: SessionId, key: StageKey): void {
  sendStop(draft, session, key, 'no run needs this stage');
  const state = draft.session(session);
  if (state && draft.run(key.runId)) draft.putSession({ ...state, ending: [...state.ending, key] });
}

/** An entry of the inventory counts as the reports that led there. */
function takeEntry(draft: Draft, key: StageKey, entry: HeldStage): void {
  const is = (...phases: HeldStagePhase[]) => phases.includes(entry.phase);
  const phase = () => findStage(draft, key)?.stage.phase;
  if (phase() === 'PENDING' || phase() === 'SENT') moveStage(draft, key, 'delivery-acked');
  if (is(HeldStagePhase.HELD_STAGE_PHASE_READY, HeldStagePhase.HELD_STAGE_PHASE_EXECUTING)) {
    if (phase() === 'ACCEPTED' || phase() === 'LOADING') {
      stageReady(draft, key, entry.footprint);
    }
  } else if (is(HeldStagePhase.HELD_STAGE_PHASE_FAULTED)) {
    faultStage(
      draft,
      key,
      'stage-faulted',
      entry.fault ?? workerGone('the agent reports it faulted, without a reason'),
      'worker',
    );
  } else if (is(HeldStagePhase.HELD_STAGE_PHASE_STOPPED)) {
    stageStopped(draft, key);
  }
  // The deadline of what it is doing starts anew with the contact.
  armStage(draft, key);
}

/** No worker is left. Unasked, that is a fault first: a stage that should run does not. */
export function stageStopped(draft: Draft, key: StageKey): void {
  const phase = findStage(draft, key)?.stage.phase;
  if (phase === 'STOPPED' || phase === undefined) {
    draft.ignored[phase ? 'out-of-date' : 'old-generation'] += 1;
    return;
  }
  if (phase !== 'STOPPING' && phase !== 'LOST') {
    faultStage(draft, key, 'stage-faulted', workerGone('its worker ended without being asked to'), 'agent');
  }
  moveStage(draft, key, 'stage-stopped');
  settleRun(draft, key.runId);
}

/** A stage that we expect and the agent does not hold. PENDING and SENT are sent by the dispatch that follows. */
function missStage(draft: Draft, key: StageKey): void {
  switch (findStage(draft, key)?.stage.phase) {
    case 'ACCEPTED':
    case 'LOADING':
    case 'READY':
      faultStage(
        draft,
        key,
        'worker-missing',
        workerGone('its node came back without it: the agent had restarted'),
        'agent',
      );
      moveStage(draft, key, 'absence-confirmed');
      return;
    case 'STOPPING':
    case 'LOST':
      moveStage(draft, key, 'absence-confirmed');
      return;
    default:
      return;
  }
}

function workerGone(what: string) {
  return {
    reason: StageFaultReason.STAGE_FAULT_REASON_WORKER_GONE,
    message: `the stage's worker is gone: ${what}; look at the agent's log`,
    logTail: [],
  };
}

function nameOf(key: StageKey): string {
  return `${key.runId}/${key.stageIndex}/${key.generation}`;
}
