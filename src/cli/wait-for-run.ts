import type { OrchestratorServiceClient } from '../../gen/stageplane/v1/orchestrator_service.js';
import type { Run } from '../../gen/stageplane/v1/run.js';
import { type ExitCode, exitCode } from './exit-code.js';
import type { Interrupts } from './interrupts.js';
import type { Output } from './output.js';
import { openRunDisplay } from './run-display.js';
import { runEnd } from './run-end.js';
import { stopOnInterrupt } from './stop-on-interrupt.js';
import { type WatchGoal, watchUntil } from './watch-until.js';

export interface Wait {
  readonly client: OrchestratorServiceClient;
  readonly output: Output;
  readonly run: Run;
  readonly until: WatchGoal;
  readonly interrupts: Interrupts;
}

/** Shows a run that is one's own: the first Ctrl-C stops the run and the wait goes on, the second leaves it alone. */
export async function waitForRun({ client, output, run, until, interrupts }: Wait): Promise<ExitCode> {
  const { runId } = run;
  const display = await openRunDisplay(output);
  const stopWaiting = stopOnInterrupt({ client, display, runId, interrupts });
  const signal = interrupts.second;
  const watch = watchUntil({ client, display, run, afterRevision: run.revision, until, signal });
  const end = await watch.finally(stopWaiting);
  interrupts.ignore();
  if (end.kind === 'detached') return leftAlone(output, runId);
  const code = runEnd(output, end.view, until);
  // A script that was interrupted must not take a run that was stopped for one that was completed.
  return interrupts.first.aborted && code !== exitCode.faulted ? exitCode.interrupted : code;
}

/** The person who waited has gone, and the run goes on. */
export function leftAlone(output: Output, runId: bigint): ExitCode {
  output.note('DETACHED', `left run ${runId} alone; look at it with \`stageplane runs watch ${runId}\``);
  return exitCode.interrupted;
}
