import type { LoadProgress, StageFault, StageFootprint } from '../../../../gen/stageplane/v1/run.js';
import { StageFaultReason } from '../../../../gen/stageplane/v1/run.js';
import type { WorkerHello } from '../../../../gen/stageplane/v1/worker.js';
import { WORKER_PROTOCOL } from '../../protocols.js';
import type { StageKey } from '../state.js';
import type { WorkerExit } from './events.js';
import { report } from './reports.js';
import { faultHeld, moveHeld, noteLateFault, workerReaped } from './stage-lifecycle.js';
import { type HeldStageState, stageLabel } from './state.js';
import type { Turn } from './turn.js';
import { exitFault, stepFault } from './worker-faults.js';

/** The worker is there: it gets its stage. */
export function workerGreeted(turn: Turn, key: StageKey, hello: WorkerHello): void {
  const stage = turn.stage(key);
  if (stage?.phase !== 'PREPARING') return;
  const problem = unfitness(stage, hello);
  if (problem) {
    const reason = StageFaultReason.STAGE_FAULT_REASON_ENGINE_UNAVAILABLE;
    faultHeld(turn, stage, { reason, message: `the worker of ${stageLabel(key)} ${problem}`, logTail: [] });
    return;
  }
  const { provision, settings, producerNodeId } = stage.delivery;
  const { modelPath } = stage;
  // Where sockets are is the shell's business: it sets them on the way to the worker.
  const sockets = { inboundSocket: '', outboundSocket: '' };
  const value = { provision, settings, producerNodeId, generation: key.generation, modelPath, ...sockets };
  turn.perform({ kind: 'command-worker', key, command: { command: { $case: 'prepare', value } } });
}

export function workerLoading(turn: Turn, key: StageKey, progress: LoadProgress): void {
  const stage = turn.stage(key);
  if (stage?.phase !== 'PREPARING') return;
  turn.putStage({ ...stage, progress });
  report(turn, key, { $case: 'loading', value: progress });
}

export function workerReady(turn: Turn, key: StageKey, footprint: StageFootprint): void {
  const stage = turn.stage(key);
  if (!stage || !moveHeld(turn, stage, 'worker-ready', { footprint })) return;
  turn.say('info', 'stage ready', { ...key, deviceBytes: footprint.deviceBytes });
  report(turn, key, { $case: 'ready', value: footprint });
}

export function workerBroken(turn: Turn, key: StageKey, fault: StageFault): void {
  const stage = turn.stage(key);
  if (stage?.phase === 'STOPPING') noteLateFault(turn, stage, fault);
  else if (stage) faultHeld(turn, stage, fault);
}

/**
 * The engine is in a step, or idle again; one that hangs in its step is ended. While it loads it is busy too, which is no
 * step.
 */
export function workerHealthy(turn: Turn, key: StageKey, busyMillis: bigint): void {
  const stage = turn.stage(key);
  if (!stage) return;
  const now = moveHeld(turn, stage, busyMillis > 0n ? 'step-begun' : 'step-ended') ?? stage;
  if (now.phase !== 'EXECUTING' || Number(busyMillis) < turn.rules.stepMillis) return;
  faultHeld(turn, now, stepFault(turn.rules.name, key, busyMillis));
}

export function workerExited(turn: Turn, key: StageKey, exit: WorkerExit, logTail: readonly string[]): void {
  const stage = turn.stage(key);
  if (!stage) return;
  const fault = exitFault(key, exit, logTail);
  if (stage.phase === 'STOPPING') {
    // Its own end may have met the stop on the way: a neighbour complained first, and that is not the cause.
    if (exit.code !== 0 && !exit.wasKilled) noteLateFault(turn, stage, fault);
    workerReaped(turn, turn.stage(key) ?? stage);
    return;
  }
  workerReaped(turn, stage);
  const left = turn.stage(key);
  if (left) faultHeld(turn, left, fault);
}

function unfitness(stage: HeldStageState, hello: WorkerHello): string | undefined {
  const engine = stage.delivery.settings?.engine ?? '';
  if (hello.protocol !== WORKER_PROTOCOL) {
    return `speaks worker protocol ${hello.protocol}, this agent ${WORKER_PROTOCOL}: install matching versions`;
  }
  if (!hello.engines.includes(engine)) {
    return `has no engine "${engine}", only ${hello.engines.join(', ') || 'none'}: check the agent's --worker`;
  }
  return undefined;
}
