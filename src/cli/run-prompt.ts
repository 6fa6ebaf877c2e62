import type { OrchestratorServiceClient } from '../../gen/stageplane/v1/orchestrator_service.js';
import { type Run, RunOutcome, RunPhase } from '../../gen/stageplane/v1/run.js';
import { RpcError } from '../grpc/rpc-error.js';
import { followAnswer } from '../launcher/follow-answer.js';
import { readRun } from '../launcher/follow-run.js';
import { type ExitCode, exitCode } from './exit-code.js';
import type { Interrupts } from './interrupts.js';
import type { Output } from './output.js';
import { printAnswer } from './print-answer.js';
import { openRunDisplay, type RunDisplay } from './run-display.js';
import { runEnd } from './run-end.js';
import type { RunView } from './run-view.js';
import { stopOnInterrupt } from './stop-on-interrupt.js';
import { leftAlone } from './wait-for-run.js';
import { watchUntil } from './watch-until.js';

interface RunPrompt {
  readonly client: OrchestratorServiceClient;
  readonly output: Output;
  readonly run: Run;
  readonly interrupts: Interrupts;
}

/**
 * Shows how a ONE_SHOT run comes up, prints its answer and waits for its end. Only the answer goes to stdout, unless
 * stdout is a terminal. The first Ctrl-C stops the run, the second leaves it alone.
 */
export async function runPrompt({ client, output, run, interrupts }: RunPrompt): Promise<ExitCode> {
  const { runId } = run;
  const signal = interrupts.second;
  const display = await openRunDisplay(output.json || output.terminal ? output : output.besides);
  const stopWaiting = stopOnInterrupt({ client, display, runId, interrupts });
  try {
    for (let now = run; ; ) {
      const comingUp = { client, display, run: now, afterRevision: now.revision, until: 'ready', signal } as const;
      const up = await watchUntil(comingUp);
      if (up.kind === 'detached') return leftAlone(output, runId);
      const told = hasNoAnswer(up.view) ? 'whole' : await answer(client, output, up.view, interrupts);
      now = (await readRun(client, runId, signal)) ?? now;
      if (told !== 'whole' && isAnsweredAgain(now, up.view.generation)) {
        display.note('BEGINS_AGAIN', `run ${runId} begins again, and its answer with it`);
        continue;
      }
      const rest = { display: quiet(display), run: now, afterRevision: now.revision, until: 'done' } as const;
      const end = await watchUntil({ ...comingUp, ...rest });
      if (end.kind === 'detached') return leftAlone(output, runId);
      // It has its answer, and nobody here has read the whole of it.
      if (told instanceof RpcError && end.view.outcome === RunOutcome.RUN_OUTCOME_COMPLETED) throw told;
      return endOf(output, end.view, interrupts);
    }
  } catch (error) {
    if (error instanceof RpcError && signal.aborted) return leftAlone(output, runId);
    throw error;
  } finally {
    stopWaiting();
    interrupts.ignore();
  }
}

/** It ended before it was answered: nothing is left to be read but what was printed already. */
function hasNoAnswer({ outcome }: RunView): boolean {
  return outcome !== RunOutcome.RUN_OUTCOME_UNSPECIFIED && outcome !== RunOutcome.RUN_OUTCOME_COMPLETED;
}

/** The answer broke off with its generation, and another one was or will be answered. */
function isAnsweredAgain({ outcome, phase, generation }: Run, asked: number): boolean {
  const isUndecided = outcome === RunOutcome.RUN_OUTCOME_UNSPECIFIED;
  if (generation > asked) return isUndecided || outcome === RunOutcome.RUN_OUTCOME_COMPLETED;
  return isUndecided && phase === RunPhase.RUN_PHASE_TEARING_DOWN;
}

/** Prints the answer. One that is cut off is so with its run, which says why. */
async function answer(
  client: OrchestratorServiceClient,
  output: Output,
  view: RunView,
  interrupts: Interrupts,
): Promise<'whole' | 'cut-off' | RpcError> {
  const signal = interrupts.second;
  try {
    const { kind } = await printAnswer(output, followAnswer(client, view, signal), signal);
    return kind === 'done' ? 'whole' : 'cut-off';
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return error;
  }
}

function endOf(output: Output, view: RunView, interrupts: Interrupts): ExitCode {
  const code = runEnd(output.json ? output : output.besides, view, 'done');
  return interrupts.first.aborted && code !== exitCode.faulted ? exitCode.interrupted : code;
}

/** The answer is on the screen: only complaints may follow it. */
function quiet(display: RunDisplay): RunDisplay {
  return { ...display, show: () => {}, redraw: () => {}, close: () => {} };
}
