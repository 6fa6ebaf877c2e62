import type { OrchestratorServiceClient } from '../../gen/stageplane/v1/orchestrator_service.js';
import type { Run } from '../../gen/stageplane/v1/run.js';
import { type ExitCode, exitCode } from './exit-code.js';
import { listenForInterrupts } from './interrupts.js';
import type { Output } from './output.js';
import { openRunDisplay } from './run-display.js';
import { runEnd } from './run-end.js';
import { watchUntil } from './watch-until.js';

interface WatchOnly {
  readonly client: OrchestratorServiceClient;
  readonly output: Output;
  readonly run: Run;
  readonly afterRevision: bigint;
}

/** Shows a run until it is DONE; Ctrl-C leaves it alone. */
export async function watchOnly({ client, output, run, afterRevision }: WatchOnly): Promise<ExitCode> {
  const interrupts = listenForInterrupts();
  const display = await openRunDisplay(output);
  const signal = interrupts.first;
  const end = await watchUntil({ client, display, run, afterRevision, until: 'done', signal });
  interrupts.ignore();
  return end.kind === 'detached' ? exitCode.interrupted : runEnd(output, end.view, 'done');
}
