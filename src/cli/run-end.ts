import { type ExitCode, exitCode } from './exit-code.js';
import { causeLine } from './format/cause.js';
import { label } from './format/labels.js';
import type { Output } from './output.js';
import { isFaulted, isOver, type RunView } from './run-view.js';
import type { WatchGoal } from './watch-until.js';

/** Says how a watch ended and gives the exit code. */
export function runEnd(output: Output, view: RunView, until: WatchGoal): ExitCode {
  if (isFaulted(view)) return faulted(output, view);
  if (!isOver(view) && view.outcome === 0) {
    if (!output.json) output.print(`run ${view.runId} is ${label.runPhase(view.phase)}`);
    return exitCode.ok;
  }
  if (until === 'ready') {
    const message = `run ${view.runId} ended ${label.runOutcome(view.outcome)} before it was ready`;
    return output.fail({ exitCode: exitCode.failure, code: 'ABORTED', reason: 'RUN_ENDED', message, violations: [] });
  }
  if (!output.json) output.print(`run ${view.runId} ended ${label.runOutcome(view.outcome)}`);
  return exitCode.ok;
}

function faulted(output: Output, { runId, cause }: RunView): ExitCode {
  return output.fail({
    exitCode: exitCode.faulted,
    code: 'ABORTED',
    reason: cause ? label.faultReason(cause.reason) : 'FAULTED',
    message: `run ${runId} ended FAULTED${cause ? `: ${causeLine(cause)}` : ''}`,
    violations: [],
    details: cause?.logTail ?? [],
  });
}
