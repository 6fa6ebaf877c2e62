import type { RunPlan } from '../../../gen/stageplane/v1/plan.js';
import { RestartMode, type RestartPolicy } from '../../../gen/stageplane/v1/run.js';
import { nodeId, runId } from '../ids.js';
import { limits } from '../limits.js';
import { type PlanningOutcome, planRequest } from '../planner/plan-request.js';
import type { PlanningRequest } from '../planner/planning-request.js';
import type { Draft } from './draft.js';
import type { Answer } from './effects.js';
import type { CallId, RunRequest } from './events.js';
import { ledgerOf } from './footprints.js';
import { poolOf } from './pool.js';
import { recordRun } from './run-lifecycle.js';
import type { RestartState, RunState, StageState } from './state.js';
import { openTokenEndpoint } from './token-endpoint.js';

/** Plans and commits a run in one turn, so that nothing changes between the plan and its effect (I8, I9). */
export function createRun(draft: Draft, call: CallId, request: RunRequest): void {
  draft.answer(call, knownAnswer(draft, request) ?? planAndCommit(draft, request));
}

/** The answer that needs no plan: the request had its effect before, or no further run is kept. */
function knownAnswer(draft: Draft, { requestId, digest }: RunRequest): Answer | undefined {
  const known = draft.request(requestId);
  if (known && known.digest !== digest) return { kind: 'request-conflict', requestId };
  if (known && !draft.run(known.runId)) return { kind: 'request-spent', requestId, runId: known.runId };
  if (known) return { kind: 'run', runId: known.runId };
  if (draft.runCount() >= limits.runs) return { kind: 'too-many-runs', limit: limits.runs };
  return undefined;
}

function planAndCommit(draft: Draft, request: RunRequest): Answer {
  const id = draft.cluster.nextRunId;
  const { expectedPlanId, expected } = request;
  const planning: PlanningRequest = {
    request: request.plan,
    inspection: request.inspection,
    modelObstacle: request.modelObstacle,
    modelCuts: request.modelCuts,
    warnings: request.warnings,
    pool: poolOf(draft),
    ledger: ledgerOf(draft),
    runId: id,
    sha256: draft.rules.sha256,
  };
  const outcome = planRequest({ ...planning, expected });
  if (expectedPlanId !== undefined && (outcome.kind === 'rejected' || outcome.planId !== expectedPlanId)) {
    return stale(planning, outcome);
  }
  // A rejection is not remembered: the same request may succeed once a node has joined (I15).
  if (outcome.kind === 'rejected') return outcome;

  draft.cluster = { ...draft.cluster, nextRunId: runId(id + 1n) };
  draft.putRequest({ requestId: request.requestId, digest: request.digest, runId: id });
  const run: RunState = {
    runId: id,
    requestId: request.requestId,
    mode: outcome.mode,
    phase: 'PROVISIONING',
    generation: 1,
    plan: outcome.plan,
    planId: outcome.planId,
    settings: outcome.settings,
    fidelity: outcome.report.fidelity,
    stages: pendingStages(outcome.plan),
    remnants: [],
    restart: restartState(request.restart, request),
    createdAt: draft.wall,
    revision: draft.cluster.revision,
    volatile: {},
  };
  recordRun(draft, run);
  openTokenEndpoint(draft, id);
  return { kind: 'run', runId: id, report: outcome.report };
}

/** Where every generation begins. */
export function pendingStages(plan: RunPlan): StageState[] {
  return plan.stages.map((stage, index) => ({ index, nodeId: nodeId(stage.nodeId), phase: 'PENDING', volatile: {} }));
}

function restartState(policy: RestartPolicy | undefined, { plan, ...basis }: RunRequest): RestartState | undefined {
  if (policy?.mode !== RestartMode.RESTART_MODE_ON_FAULT) return undefined;
  return {
    maxAttempts: policy.maxAttempts,
    backoff: Number(policy.backoffMillis) || limits.restartBackoffMillis,
    attempts: 0,
    obstacle: '',
    basis: { request: plan, inspection: basis.inspection, modelCuts: basis.modelCuts },
  };
}

/** The dry run's plan is not what it would be now: why, and what is possible instead. */
function stale(planning: PlanningRequest, outcome: PlanningOutcome): Answer {
  const rejection = outcome.kind === 'rejected' ? outcome.rejection : undefined;
  const why = rejection ? rejection.message : 'the pool or the model has changed since the dry run';
  const message = `${why}: look at the new report and ask again`;
  return { kind: 'stale', message, rejection, report: planRequest(planning).report };
}
