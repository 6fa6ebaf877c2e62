import { StageFaultReason } from '../../../gen/stageplane/v1/run.js';
import { limits } from '../limits.js';
import type { RunCause, RunState } from './state.js';

/** A faulted run that is to begin again as its next generation, once nothing of this one is left. */
export function awaitsRestart({ phase, outcome }: RunState): boolean {
  return phase === 'TEARING_DOWN' && outcome === undefined;
}

/** Whether a fault is not the end of its run. What a prompt is refused for does not pass by asking again. */
export function mayBeginAgain({ restart }: RunState, cause: RunCause): boolean {
  if (!restart?.basis || cause.fault.reason === StageFaultReason.STAGE_FAULT_REASON_PROMPT_REFUSED) return false;
  return restart.attempts < restart.maxAttempts || isMove(cause);
}

/**
 * Nothing went wrong: the run only has to go elsewhere, so that takes no attempt. A worker that claims as much is believed
 * nothing: its run would begin again for ever.
 */
export function isMove({ component, fault }: RunCause): boolean {
  return component === 'orchestrator' && fault.reason === StageFaultReason.STAGE_FAULT_REASON_NODE_DRAINED;
}

/** Milliseconds before the next attempt: none for a first try to move, then doubling. */
export function restartDelay({ cause, restart }: RunState): number {
  if (!restart || (cause && isMove(cause) && restart.obstacle === '')) return 0;
  return Math.min(restart.backoff * 2 ** restart.attempts, limits.restartBackoffMaxMillis);
}
