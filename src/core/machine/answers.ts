import { RunMode } from '../../../gen/stageplane/v1/planner.js';
import type { StageFault } from '../../../gen/stageplane/v1/run.js';
import { type TextAnswer, TextDoneReason } from '../../../gen/stageplane/v1/token_endpoint.js';
import type { RunId } from '../ids.js';
import type { Draft } from './draft.js';
import { faultRun, moveRun } from './run-lifecycle.js';
import type { RunState } from './state.js';

/**
 * The prompt of a ONE_SHOT run is answered: the answer is committed with the run that it completes. One that broke off
 * completes nothing, and is kept all the same: whoever attaches later reads what was said.
 */
export function answerEnded(draft: Draft, id: RunId, generation: number, answer: TextAnswer): void {
  const run = oneShotRun(draft, id, generation);
  const begun = run?.phase === 'RUNNING' || run?.phase === 'TEARING_DOWN' || run?.phase === 'DONE';
  // The answer that completed a run is the answer, whatever is said after it.
  if (!run || !begun || run.outcome === 'COMPLETED') return ignore(draft, run);
  draft.answers.set(id, answer);
  if (answer.done?.reason === TextDoneReason.TEXT_DONE_REASON_UNAVAILABLE) return;
  moveRun(draft, id, 'generation-completed');
}

/** The prompt cannot be answered, and the run is for nothing else. */
export function answerFailed(draft: Draft, id: RunId, generation: number, fault: StageFault): void {
  const run = oneShotRun(draft, id, generation);
  if (run?.phase !== 'RUNNING') return ignore(draft, run);
  faultRun(draft, id, fault, 'token-endpoint');
}

function oneShotRun(draft: Draft, id: RunId, generation: number): RunState | undefined {
  const run = draft.run(id);
  return run?.generation === generation && run.mode === RunMode.RUN_MODE_ONE_SHOT ? run : undefined;
}

function ignore(draft: Draft, run: RunState | undefined): void {
  draft.ignored[run ? 'out-of-date' : 'old-generation'] += 1;
}
