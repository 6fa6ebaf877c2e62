import type { StageDelivery } from '../../../../gen/stageplane/v1/node_agent_service.js';
import { type StageFault, StageFaultReason } from '../../../../gen/stageplane/v1/run.js';
import { isPrimary } from '../run-cause.js';
import type { StageKey } from '../state.js';
import { type HeldTrigger, nextHeldPhase } from './held-phases.js';
import { report } from './reports.js';
import type { HeldStageState } from './state.js';
import type { Turn } from './turn.js';

/** Moves a held stage as the table says. Undefined when the trigger means nothing in its phase. */
export function moveHeld(
  turn: Turn,
  stage: HeldStageState,
  trigger: HeldTrigger,
  patch: Partial<Pick<HeldStageState, 'fault' | 'footprint'>> = {},
): HeldStageState | undefined {
  const phase = nextHeldPhase(stage.phase, trigger);
  if (!phase) return undefined;
  const moved = { ...stage, ...patch, phase };
  turn.putStage(moved);
  return moved;
}

/** Takes a stage in. Workers of older generations are stopped first; its own starts when none is left (I3). */
export function holdStage(turn: Turn, key: StageKey, delivery: StageDelivery, modelPath: string): void {
  for (const older of turn.generationsOf(key)) stopStage(turn, older, `generation ${key.generation} replaces it`);
  const stage: HeldStageState = { key, phase: 'PREPARING', delivery, modelPath, worker: 'unstarted' };
  turn.putStage(stage);
  turn.say('info', 'stage accepted', { ...key });
  startWhenAlone(turn, stage);
}

/** Ends a stage. `stopped` is reported at once only when there is no process to wait for. */
export function stopStage(turn: Turn, stage: HeldStageState, reason: string): void {
  const stopping = moveHeld(turn, stage, 'stop-begun');
  if (!stopping) return;
  turn.say('info', 'stage is being stopped', { ...stage.key, why: reason });
  if (stage.worker !== 'alive') settle(turn, stopping);
  // A FAULTED stage's process has been killed already.
  else if (stage.phase !== 'FAULTED') turn.perform({ kind: 'stop-worker', key: stage.key, reason });
}

/** Ends a stage that the orchestrator wanted to go on: its run must learn the true cause, not only that it stopped. */
export function giveUpStage(turn: Turn, stage: HeldStageState, cause: string): void {
  if (nextHeldPhase(stage.phase, 'worker-faulted')) {
    const fault = { reason: StageFaultReason.STAGE_FAULT_REASON_WORKER_GONE, message: cause, logTail: [] };
    report(turn, stage.key, { $case: 'fault', value: fault });
  }
  stopStage(turn, stage, cause);
}

/** Ends the stage's process and says why. The stage stays in the inventory until it is stopped. */
export function faultHeld(turn: Turn, stage: HeldStageState, fault: StageFault): void {
  const faulted = moveHeld(turn, stage, 'worker-faulted', { fault });
  if (!faulted) return;
  turn.say('warn', 'stage faulted', { ...stage.key, why: fault.message });
  if (faulted.worker === 'alive') turn.perform({ kind: 'kill-worker', key: stage.key });
  report(turn, stage.key, { $case: 'fault', value: fault });
}

/**
 * A stage that is being stopped keeps its phase, but why its worker failed may be the cause of it all. That a neighbour
 * closed an edge is only what a stop looks like from there.
 */
export function noteLateFault(turn: Turn, stage: HeldStageState, fault: StageFault): void {
  if (stage.fault || !isPrimary({ fault })) return;
  turn.putStage({ ...stage, fault });
  turn.say('warn', 'stage faulted while it was being stopped', { ...stage.key, why: fault.message });
  report(turn, stage.key, { $case: 'fault', value: fault });
}

/** Nothing of the stage's process is left: `stopped` may be said, and a newer generation may start. */
export function workerReaped(turn: Turn, stage: HeldStageState): void {
  const reaped: HeldStageState = { ...stage, worker: 'reaped' };
  turn.putStage(reaped);
  settle(turn, reaped);
  for (const other of turn.generationsOf(stage.key)) startWhenAlone(turn, other);
}

function settle(turn: Turn, stage: HeldStageState): void {
  if (!moveHeld(turn, stage, 'worker-reaped')) return;
  turn.say('info', 'stage stopped', { ...stage.key });
  report(turn, stage.key, { $case: 'stopped', value: {} });
}

function startWhenAlone(turn: Turn, stage: HeldStageState): void {
  if (stage.phase !== 'PREPARING' || stage.worker !== 'unstarted') return;
  const alive = turn.generationsOf(stage.key).find(({ worker }) => worker === 'alive');
  if (alive) {
    turn.say('info', 'stage waits for an older worker to end', { ...stage.key, olderGeneration: alive.key.generation });
    return;
  }
  turn.putStage({ ...stage, worker: 'alive' });
  turn.perform({ kind: 'start-worker', key: stage.key });
}
