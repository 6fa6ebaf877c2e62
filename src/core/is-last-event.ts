import { type RunEvent, RunPhase } from '../../gen/stageplane/v1/run.js';

/** Whether an event makes its run DONE: nothing follows it, so that whoever watches may go. */
export function isLastEvent({ detail }: RunEvent): boolean {
  return detail?.$case === 'runPhase' && detail.value.phase === RunPhase.RUN_PHASE_DONE;
}
