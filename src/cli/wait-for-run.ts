import {
  type OrchestratorServiceClient,
  OrchestratorServiceService as service,
} from '../../gen/stageplane/v1/orchestrator_service.js';
import type { Run } from '../../gen/stageplane/v1/run.js';
import { unaryCall } from '../grpc/client.js';
import { type ExitCode, exitCode } from './exit-code.js';
import type { Interrupts } from './interrupts.js';
import type { Output } from './output.js';
import { openRunDisplay, type RunDisplay } from './run-display.js';
import { runEnd } from './run-end.js';
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
  const display = await openRunDisplay(output);
  // A stop that is not answered must not hold up the end of the wait.
  const waiting = new AbortController();
  const stop = () => stopRun(client, display, run.runId, waiting.signal);
  if (interrupts.first.aborted) stop();
  else interrupts.first.addEventListener('abort', stop, { once: true });

  const signal = interrupts.second;
  const watch = watchUntil({ client, display, run, afterRevision: run.revision, until, signal });
  const end = await watch.finally(() => waiting.abort());
  interrupts.ignore();
  if (end.kind === 'detached') {
    output.note('DETACHED', `left run ${run.runId} alone; look at it with \`stageplane runs watch ${run.runId}\``);
    return exitCode.interrupted;
  }
  const code = runEnd(output, end.view, until);
  // A script that was interrupted must not take a run that was stopped for one that was completed.
  return interrupts.first.aborted && code !== exitCode.faulted ? exitCode.interrupted : code;
}

function stopRun(client: OrchestratorServiceClient, display: RunDisplay, runId: bigint, signal: AbortSignal): void {
  display.note('STOPPING', `stopping run ${runId}; press Ctrl-C again to leave it alone`);
  unaryCall(client, service.stopRun, { runId }, { signal }).catch((error: Error) => {
    if (signal.aborted) return;
    display.note('STOP_FAILED', `run ${runId} could not be stopped: ${error.message}`);
  });
}
