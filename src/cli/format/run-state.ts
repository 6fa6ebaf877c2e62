import { RunOutcome, RunPhase } from '../../../gen/stageplane/v1/run.js';
import { label } from './labels.js';

/** Where a run stands: `RUNNING`, `DONE  FAULTED`. Torn down without an outcome it is not over: it begins again. */
export function runState({ phase, outcome }: { readonly phase: RunPhase; readonly outcome: RunOutcome }): string {
  if (outcome !== RunOutcome.RUN_OUTCOME_UNSPECIFIED) return `${label.runPhase(phase)}  ${label.runOutcome(outcome)}`;
  const next = phase === RunPhase.RUN_PHASE_TEARING_DOWN ? ', then it begins again' : '';
  return `${label.runPhase(phase)}${next}`;
}
