import type { OrchestratorServiceClient } from '../../gen/stageplane/v1/orchestrator_service.js';
import { type Run, RunOutcome, RunPhase } from '../../gen/stageplane/v1/run.js';
import { RpcError } from '../grpc/rpc-error.js';
import { followRun, type RunNews } from '../launcher/follow-run.js';
import type { RunDisplay } from './run-display.js';
import { advanceRun, isOver, type RunView, runViewOf, unplayed } from './run-view.js';

/** `ready`: every stage is ready and the run is RUNNING, or will never be. */
export type WatchGoal = 'ready' | 'done';

export type WatchEnd =
  | { readonly kind: 'reached'; readonly view: RunView }
  /** The person who watched has gone; the run goes on. */
  | { readonly kind: 'detached'; readonly view: RunView };

export interface Watch {
  readonly client: OrchestratorServiceClient;
  readonly display: RunDisplay;
  readonly run: Run;
  /** Events after this revision are shown. */
  readonly afterRevision: bigint;
  readonly until: WatchGoal;
  /** Detaches. */
  readonly signal: AbortSignal;
}

/** Shows a run until the goal is reached. Throws RpcError when the orchestrator stays away or refuses. */
export async function watchUntil({ client, display, run, afterRevision, until, signal }: Watch): Promise<WatchEnd> {
  // Events that the run is already past would take the newest view back and forth.
  let view = afterRevision < run.revision ? unplayed(runViewOf(run)) : runViewOf(run);
  const reached = () => isOver(view) || (until === 'ready' && isDecided(view));
  try {
    display.redraw(view);
    if (reached()) return { kind: 'reached', view };
    for await (const news of followRun(client, run.runId, afterRevision, signal)) {
      view = advance(view, news);
      show(display, news, view);
      if (news.kind !== 'broken' && reached()) return { kind: 'reached', view };
    }
    return { kind: 'reached', view };
  } catch (error) {
    if (error instanceof RpcError && signal.aborted) return { kind: 'detached', view };
    throw error;
  } finally {
    display.close();
  }
}

/** It runs, or never will: one that faulted and is to begin again may yet. */
function isDecided({ phase, outcome }: RunView): boolean {
  return phase === RunPhase.RUN_PHASE_RUNNING || outcome !== RunOutcome.RUN_OUTCOME_UNSPECIFIED;
}

function advance(view: RunView, news: RunNews): RunView {
  if (news.kind === 'update') return advanceRun(view, news.update);
  return news.kind === 'snapshot' ? runViewOf(news.run) : view;
}

function show(display: RunDisplay, news: RunNews, view: RunView): void {
  switch (news.kind) {
    case 'update':
      return display.show(news.update, view);
    case 'snapshot':
      return display.redraw(view);
    case 'broken':
      return display.note('WATCH_BROKEN', 'the watch broke off; resuming it from the last revision seen');
  }
}
