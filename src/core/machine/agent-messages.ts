import type { StageReport } from '../../../gen/stageplane/v1/node_agent_service.js';
import type { LoadProgress, StageFault } from '../../../gen/stageplane/v1/run.js';
import { runId, type SessionId } from '../ids.js';
import type { Draft } from './draft.js';
import { stageStopped } from './reconcile.js';
import { findRemnant, settleRemnant } from './remnants.js';
import { armStage, faultStage, findStage, moveStage, settleRun } from './run-lifecycle.js';
import { stageReady } from './stage-ready.js';
import type { SessionState, StageKey, UnansweredDelivery } from './state.js';

/** The agent has accepted a provision. */
export function deliveryAcked(draft: Draft, session: SessionId, deliveryId: bigint): void {
  const delivery = takeDelivery(draft, session, deliveryId);
  if (!delivery) return;
  for (const key of keysOf(delivery)) {
    if (findStage(draft, key)?.stage.phase === 'SENT') moveStage(draft, key, 'delivery-acked');
  }
  settleRun(draft, delivery.runId);
}

/** The agent holds none of the delivery's stages. */
export function deliveryRefused(draft: Draft, session: SessionId, deliveryId: bigint, fault: StageFault): void {
  const delivery = takeDelivery(draft, session, deliveryId);
  if (!delivery) return;
  for (const key of keysOf(delivery)) faultStage(draft, key, 'delivery-refused', fault, 'agent');
  settleRun(draft, delivery.runId);
}

/**
 * What became of a stage. Every report but `loading` is acknowledged, after the commit (I4), also one that is stale
 * and changes nothing (I6): otherwise the agent would keep it for ever.
 */
export function stageReported(draft: Draft, session: SessionId, report: StageReport): void {
  const state = draft.session(session);
  if (!state) {
    draft.ignored['old-session'] += 1;
    return;
  }
  const key: StageKey = {
    runId: runId(report.runId),
    stageIndex: report.stageIndex,
    generation: report.generation,
  };
  const stage = findStage(draft, key)?.stage;
  if (stage?.nodeId === state.nodeId) takeReport(draft, key, report);
  else if (!takeLastWord(draft, key, report, state) && !takeForeignEnd(draft, key, report, state))
    draft.ignored[stage ? 'foreign-stage' : 'old-generation'] += 1;
  if (report.report?.$case === 'loading') return;
  draft.send(session, { $case: 'reportAck', value: { reportIds: [report.reportId] } });
}

/** Of an earlier generation only its end matters. */
function takeLastWord(draft: Draft, key: StageKey, { report }: StageReport, { nodeId }: SessionState): boolean {
  if (report?.$case !== 'stopped' || findRemnant(draft, key)?.stage.nodeId !== nodeId) return false;
  return settleRemnant(draft, key, 'stage-stopped');
}

function takeForeignEnd(draft: Draft, key: StageKey, { report }: StageReport, state: SessionState): boolean {
  const ending = state.ending.filter((other) => !isSame(other, key));
  if (report?.$case !== 'stopped' || ending.length === state.ending.length) return false;
  draft.putSession({ ...state, ending });
  return true;
}

function isSame(a: StageKey, b: StageKey): boolean {
  return a.runId === b.runId && a.stageIndex === b.stageIndex && a.generation === b.generation;
}

function takeReport(draft: Draft, key: StageKey, { report }: StageReport): void {
  switch (report?.$case) {
    case 'loading':
      loadProgressed(draft, key, report.value);
      break;
    case 'ready':
      stageReady(draft, key, report.value);
      break;
    case 'fault':
      faultStage(draft, key, 'stage-faulted', report.value, 'worker');
      break;
    case 'stopped':
      stageStopped(draft, key);
      break;
    case undefined:
      draft.ignored['out-of-date'] += 1;
  }
  settleRun(draft, key.runId);
}

/** Only the first sign of loading is an event; the rest is kept in memory, latest wins. */
function loadProgressed(draft: Draft, key: StageKey, progress: LoadProgress): void {
  const phase = findStage(draft, key)?.stage.phase;
  if (phase === 'SENT' || phase === 'ACCEPTED') moveStage(draft, key, 'bytes-loaded');
  const found = findStage(draft, key);
  if (found?.stage.phase !== 'LOADING') return;
  const { run, stage } = found;
  const before = stage.volatile.progress;
  const turned = progress.phase !== before?.phase;
  const moved = turned || progress.bytesDone !== before?.bytesDone;
  const volatile = {
    ...stage.volatile,
    progress,
    ...(moved && { since: draft.now }),
  };
  draft.putStage(run, { ...stage, volatile });
  draft.progress.set(`${run.runId}/${stage.index}`, {
    runId: run.runId,
    stageIndex: stage.index,
    progress,
  });
  if (turned) armStage(draft, key);
}

function takeDelivery(draft: Draft, session: SessionId, deliveryId: bigint): UnansweredDelivery | undefined {
  const state: SessionState | undefined = draft.session(session);
  const delivery = state?.unanswered.get(deliveryId);
  if (!state || !delivery) {
    draft.ignored[state ? 'out-of-date' : 'old-session'] += 1;
    return undefined;
  }
  const unanswered = new Map(state.unanswered);
  unanswered.delete(deliveryId);
  draft.putSession({ ...state, unanswered });
  return delivery;
}

function keysOf(delivery: UnansweredDelivery): StageKey[] {
  return delivery.stageIndices.map((stageIndex) => ({
    runId: delivery.runId,
    generation: delivery.generation,
    stageIndex,
  }));
}
