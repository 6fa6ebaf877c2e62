import { RunOutcome, RunPhase } from '../../../gen/stageplane/v1/run.js';
import { type ExitCode, exitCode } from '../exit-code.js';
import { openRunDisplay, type RunDisplay } from '../run-display.js';
import { runEnd } from '../run-end.js';
import { stopOnInterrupt } from '../stop-on-interrupt.js';
import { leftAlone, type Wait } from '../wait-for-run.js';
import { watchUntil } from '../watch-until.js';

/** Shows a run of one's own until it is RUNNING, tells of it, and stays until it is DONE; Ctrl-C stops it. */
export async function serveUntilDone(
  { client, output, run, interrupts }: Omit<Wait, 'until'>,
  onReady: () => Promise<void>,
): Promise<ExitCode> {
  const { runId } = run;
  const display = await openRunDisplay(output);
  const stopWaiting = stopOnInterrupt({ client, display, runId, interrupts });
  const watch = { client, run, afterRevision: run.revision, signal: interrupts.second };
  try {
    const begun = await watchUntil({ ...watch, display, until: 'ready' });
    if (begun.kind === 'detached') return leftAlone(output, runId);
    const isServing = begun.view.phase === RunPhase.RUN_PHASE_RUNNING;
    if (isServing) await onReady();
    const ended = await watchUntil({ ...watch, display: silent(display), until: 'done' });
    if (ended.kind === 'detached') return leftAlone(output, runId);
    const isAsked = interrupts.first.aborted && ended.view.outcome === RunOutcome.RUN_OUTCOME_STOPPED;
    if (isAsked && !output.json) output.print(`run ${runId} is stopped`);
    if (isAsked) return isServing ? exitCode.ok : exitCode.interrupted;
    return runEnd(output, ended.view, 'done');
  } finally {
    stopWaiting();
  }
}

/** What was said of the endpoint stays the last thing on the screen, but for what a person has to know. */
function silent({ note }: RunDisplay): RunDisplay {
  return { show: () => {}, redraw: () => {}, note, close: () => {} };
}
