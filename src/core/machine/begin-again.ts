import type { PlanRejection } from '../../../gen/stageplane/v1/rejection.js';
import type { StageStatus } from '../../../gen/stageplane/v1/run.js';
import { millis, type RunId } from '../ids.js';
import { limits } from '../limits.js';
import { type PlanningOutcome, planRequest } from '../planner/plan-request.js';
import { pendingStages } from './create-run.js';
import type { Draft } from './draft.js';
import { ledgerOf } from './footprints.js';
import { isAway } from './grace.js';
import { poolOf } from './pool.js';
import { remnantsOf } from './remnants.js';
import { awaitsRestart, isMove, restartDelay } from './restart-policy.js';
import { wireCause } from './run-cause.js';
import { armRestart, isSettled, moveRun, nodeOfCause } from './run-lifecycle.js';
import type { RestartState, RunState } from './state.js';
import { lostGenerations } from './step-over.js';
import { openTokenEndpoint } from './token-endpoint.js';
import { wireStagePhase } from './wire-names.js';

type Planned = Extract<PlanningOutcome, { kind: 'planned' }>;

/** The next attempt of a run is due: it is planned as a whole on the nodes that there are now, or not at all (I8). */
export function restartDue(draft: Draft, id: RunId): void {
  const run = draft.run(id);
  if (!run?.restart || !awaitsRestart(run) || !isSettled(run)) return;
  const { restartAt } = run.volatile;
  if (restartAt === undefined || draft.now < restartAt) return armRestart(draft, id);
  const later = (pause: number) => draft.arm({ kind: 'restart', runId: id }, millis(draft.now + pause));
  if (isEndingStill(draft, run)) return later(limits.restartWaitMillis);
  if (!draft.mayPlan()) return later(limits.planPauseMillis);
  const outcome = planAgain(draft, run);
  if (outcome.kind === 'planned') beginGeneration(draft, run, run.restart, outcome);
  else refuseAttempt(draft, run, run.restart, outcome.rejection);
}

/**
 * A node that is back, having been lost, deleted or forgotten by an older copy, is ending what it held: beside that no
 * worker of a new generation may begin (I3). An agent that takes longer than a stop may is no better than one out of contact.
 */
function isEndingStill(draft: Draft, { runId, stages, remnants }: RunState): boolean {
  const lost = [...stages, ...remnants.map(({ stage }) => stage)].filter(({ phase }) => phase === 'LOST');
  const away = new Set(lost.map(({ nodeId }) => nodeId));
  return [...draft.allNodeIds()].some((id) => {
    const { session, reconciledAt } = draft.contact(id) ?? {};
    if (reconciledAt === undefined || draft.now >= reconciledAt + draft.rules.timings.stop) return false;
    const ending = session === undefined ? [] : (draft.session(session)?.ending ?? []);
    return away.has(id) || ending.some((key) => key.runId === runId);
  });
}

/** @param except what this run holds counts as free */
export function planAgain(draft: Draft, { runId, restart }: RunState, except?: RunId): PlanningOutcome {
  const { request, inspection, modelCuts } = restart!.basis!;
  const { sha256 } = draft.rules;
  const pool = poolOf(draft, except);
  return planRequest({ request, inspection, modelCuts, pool, ledger: ledgerOf(draft), runId, sha256 });
}

function beginGeneration(draft: Draft, run: RunState, restart: RestartState, planned: Planned): void {
  const isMoving = run.cause !== undefined && isMove(run.cause);
  const next: RunState = {
    ...run,
    // A restored copy must not take a generation that the lost life may have used (I3).
    generation: run.generation + 1 + lostGenerations(draft.cluster, run.runId),
    cause: undefined,
    plan: planned.plan,
    planId: planned.planId,
    settings: planned.settings,
    fidelity: planned.report.fidelity,
    stages: pendingStages(planned.plan),
    remnants: remnantsOf(run),
    restart: {
      ...restart,
      attempts: restart.attempts + Number(!isMoving),
      lastCause: run.cause && wireCause(run.cause, nodeOfCause(draft, run.cause)),
      obstacle: '',
    },
    volatile: {},
  };
  draft.putRun(next);
  moveRun(draft, run.runId, 'planned-again', placesOf(draft, next));
  openTokenEndpoint(draft, run.runId);
}

/**
 * A rejection takes an attempt as a fault does. While a node is within its grace it is not yet known which nodes there
 * are, so then it takes none: graces end.
 */
function refuseAttempt(draft: Draft, run: RunState, restart: RestartState, rejection: PlanRejection): void {
  const isFinal = ![...draft.allNodeIds()].some((id) => isAway(draft.contact(id)));
  const attempts = Math.min(restart.attempts + Number(isFinal), restart.maxAttempts);
  // A move away from a drained node needs no attempt to begin with, and is over when none is left to try again with.
  const isSpent = isFinal && restart.attempts + 1 >= restart.maxAttempts;
  const { kind, message } = rejection;
  const isNews = isFinal || message !== restart.obstacle;
  const attemptsLeft = isSpent ? 0 : restart.maxAttempts - attempts;
  const revision = isNews
    ? draft.record(run, { $case: 'restartRefused', value: { kind, message, attemptsLeft } })
    : run.revision;
  // What takes no attempt must not be tried without end either: a grace lasts many of the shortest waits.
  const soonest = millis(draft.now + Math.max(restartDelay(run), limits.restartBackoffMillis));
  const volatile = { ...run.volatile, restartAt: isFinal ? undefined : soonest };
  draft.putRun({ ...run, restart: { ...restart, attempts, obstacle: message }, volatile, revision });
  if (isSpent) moveRun(draft, run.runId, 'attempts-spent');
  else armRestart(draft, run.runId);
}

/** Where the stages of a new generation are, for those who watch: its events name nodes by their ids alone. */
function placesOf(draft: Draft, { plan, stages }: RunState): StageStatus[] {
  return stages.map(({ index, nodeId, phase }) => ({
    stageIndex: index,
    nodeId,
    nodeName: draft.node(nodeId)?.name ?? '',
    phase: wireStagePhase(phase),
    layerStart: plan.stages[index]!.layerStart,
    layerEndExclusive: plan.stages[index]!.layerEndExclusive,
    generation: 0,
  }));
}
