import { runId } from '../ids.js';
import { limits } from '../limits.js';
import { planRequest } from '../planner/plan-request.js';
import type { Draft } from './draft.js';
import type { Answer } from './effects.js';
import type { CallId, RunRequest } from './events.js';
import { poolOf } from './pool.js';
import type { RunState } from './state.js';
import { wireRunOutcome, wireRunPhase } from './wire-names.js';

/** Plans and commits a run in one turn, so that nothing changes between the plan and its effect (I8, I9). */
export function createRun(draft: Draft, call: CallId, request: RunRequest): void {
  draft.perform({
    kind: 'answer',
    call,
    answer: answerRequest(draft, request),
  });
}

function answerRequest(draft: Draft, request: RunRequest): Answer {
  const known = draft.request(request.requestId);
  if (known && known.digest !== request.digest) return { kind: 'request-conflict', requestId: request.requestId };
  if (known && !draft.run(known.runId))
    return {
      kind: 'request-spent',
      requestId: known.requestId,
      runId: known.runId,
    };
  if (known) return { kind: 'run', runId: known.runId };
  if (draft.runCount() >= limits.runs) return { kind: 'too-many-runs', limit: limits.runs };

  const id = draft.cluster.nextRunId;
  const outcome = planRequest({
    request: request.plan,
    inspection: request.inspection,
    modelObstacle: request.modelObstacle,
    pool: poolOf(draft),
    runId: id,
    sha256: draft.rules.sha256,
  });
  // A rejection is not remembered: the same request may succeed once a node has joined (I15).
  if (outcome.kind === 'rejected') return outcome;
  if (request.expectedPlanId !== undefined && request.expectedPlanId !== outcome.planId) return stale(outcome.report);

  draft.cluster = { ...draft.cluster, nextRunId: runId(id + 1n) };
  draft.putRequest({
    requestId: request.requestId,
    digest: request.digest,
    runId: id,
  });
  const run: RunState = {
    runId: id,
    requestId: request.requestId,
    mode: outcome.mode,
    phase: 'PROVISIONING',
    generation: 1,
    plan: outcome.plan,
    planId: outcome.planId,
    settings: outcome.settings,
    stages: outcome.plan.stages.map((stage, index) => ({
      index,
      nodeId: stage.nodeId as RunState['stages'][number]['nodeId'],
      phase: 'PENDING',
      volatile: {},
    })),
    createdAt: draft.wall,
    revision: draft.cluster.revision,
  };
  const phase = {
    phase: wireRunPhase(run.phase),
    outcome: wireRunOutcome(undefined),
    cause: undefined,
  };
  draft.putRun({
    ...run,
    revision: draft.record(run, { $case: 'runPhase', value: phase }),
  });
  return { kind: 'run', runId: id, report: outcome.report };
}

function stale(report: Extract<Answer, { kind: 'stale' }>['report']): Answer {
  const message = 'the pool or the model has changed since the dry run: look at the new report and ask again';
  return { kind: 'stale', message, report };
}
