import type { OrchestratorServiceService } from '../../gen/stageplane/v1/orchestrator_service.js';
import { type RunId, runId } from '../core/ids.js';
import { limits } from '../core/limits.js';
import type { RunState } from '../core/machine/state.js';
import type { ServiceBodies } from '../grpc/add-service.js';
import { answerError, runNotFound, stageNotFound } from './answer-errors.js';
import type { Loop } from './loop.js';
import { takePage } from './page.js';
import { runSummary, runView } from './run-view.js';
import type { Sessions } from './sessions.js';
import type { TokenEndpoints } from './text/token-endpoints.js';
import { viewsFor } from './viewer-view.js';

type Bodies = ServiceBodies<typeof OrchestratorServiceService>;
type RunBodies = Pick<Bodies, 'getRun' | 'listRuns' | 'stopRun' | 'deleteRun' | 'getStageLog'>;

/** Looking at runs and ending them. Reads see committed state alone, because the loop's world is that. */
export function runCalls(loop: Loop, sessions: Sessions, endpoints: TokenEndpoints): RunBodies {
  const { world } = loop;
  const find = (id: bigint): RunState => {
    const run = world.runs.get(runId(id));
    if (!run) throw runNotFound(runId(id));
    return run;
  };
  const viewed = (id: RunId) => ({ run: { ...runView(world, find(id)), textLoad: endpoints.find(id)?.load } });

  return {
    async getRun(request, context) {
      const { run } = viewed(runId(request.runId));
      return { run: viewsFor(context).run(run) };
    },

    async listRuns(request, context) {
      const views = viewsFor(context);
      const newestFirst = [...world.runs.values()].reverse();
      const wanted = request.activeOnly ? newestFirst.filter((run) => run.phase !== 'DONE') : newestFirst;
      const page = takePage(
        wanted,
        (run) => run.runId,
        (id, last) => id < last,
        request,
      );
      return {
        runs: page.items.map((run) => views.summary(runSummary(run), run)),
        nextPageToken: page.nextPageToken,
      };
    },

    async stopRun(request, context) {
      const id = runId(request.runId);
      const answer = await loop.request(
        (call) => ({
          kind: 'run-stop-requested',
          call,
          runId: id,
        }),
        context,
      );
      if (answer.kind !== 'run') throw answerError(answer);
      return viewed(id);
    },

    async deleteRun(request, context) {
      const id = runId(request.runId);
      const answer = await loop.request(
        (call) => ({
          kind: 'run-delete-requested',
          call,
          runId: id,
        }),
        context,
      );
      if (answer.kind !== 'deleted') throw answerError(answer);
      return {};
    },

    async getStageLog(request) {
      const run = find(request.runId);
      const stage = run.stages[request.stageIndex];
      if (!stage) throw stageNotFound(run, request.stageIndex);
      const session = world.contacts.get(stage.nodeId)?.session;
      const key = {
        runId: run.runId,
        stageIndex: stage.index,
        generation: run.generation,
      };
      const maxLines = Math.min(request.maxLines || limits.defaultPageSize, limits.logRequestLines);
      const lines = session && (await sessions.requestLog(session, key, maxLines));
      return lines ? { lines: [...lines], fromFault: false } : { lines: stage.fault?.logTail ?? [], fromFault: true };
    },
  };
}
