import { RunMode } from '../../../gen/stageplane/v1/planner.js';
import type { StageFault, StageStatus } from '../../../gen/stageplane/v1/run.js';
import { millis, type NodeId, revision } from '../ids.js';
import type { Draft } from './draft.js';
import { awaitsEdges, edgeDeadline, isLoaded } from './edge-deadline.js';
import { awaitsRestart, mayBeginAgain, restartDelay } from './restart-policy.js';
import { betterCause, isPrimary, silentCause, wireCause } from './run-cause.js';
import { findRunTransition, isLive, type RunOutcome, type RunTrigger } from './run-transitions.js';
import { stageDeadline } from './stage-deadline.js';
import { nextStagePhase, type StageTrigger, stageRank } from './stage-transitions.js';
import type { NodeState, RunCause, RunState, StageKey, StageState } from './state.js';
import { wireRunOutcome, wireRunPhase, wireStagePhase } from './wire-names.js';

/** The stage that a key names, or undefined when the run, the stage or the generation is not current (I6). */
export function findStage(draft: Draft, key: StageKey): { run: RunState; stage: StageState } | undefined {
  const run = draft.run(key.runId);
  const stage = run?.stages[key.stageIndex];
  if (!run || !stage || run.generation !== key.generation) return undefined;
  return { run, stage };
}

/** Moves one stage as the table says. False when the trigger means nothing in the stage's phase (I2). */
export function moveStage(
  draft: Draft,
  key: StageKey,
  trigger: StageTrigger,
  patch: Partial<Pick<StageState, 'fault' | 'footprint'>> = {},
): boolean {
  const found = findStage(draft, key);
  const phase = found && nextStagePhase(found.stage.phase, trigger);
  if (!found || !phase) {
    draft.ignored[found ? 'out-of-date' : 'old-generation'] += 1;
    return false;
  }
  const { run, stage } = found;
  const moved: StageState = {
    ...stage,
    ...patch,
    phase,
    volatile: { ...stage.volatile, since: draft.now },
  };
  const revision = draft.record(run, {
    $case: 'stagePhase',
    value: {
      stageIndex: stage.index,
      nodeId: stage.nodeId,
      phase: wireStagePhase(phase),
      footprint: patch.footprint,
    },
  });
  draft.putStage({ ...run, revision }, moved);
  armStage(draft, key);
  return true;
}

/** Sets a timer for the stage's deadline, if its phase has one. */
export function armStage(draft: Draft, key: StageKey): void {
  const found = findStage(draft, key);
  const at = found && stageDeadline(found.stage, draft.contact(found.stage.nodeId), draft.rules.timings)?.at;
  if (at !== undefined) draft.arm({ kind: 'stage', ...key }, at);
}

/** Sets a timer for the edges of a run whose stages are all loaded. */
export function armEdges(draft: Draft, id: RunState['runId']): void {
  const run = draft.run(id);
  const at = run && edgeDeadline(run, (nodeId) => draft.contact(nodeId), draft.rules.timings)?.at;
  if (at !== undefined) draft.arm({ kind: 'edges', runId: id }, at);
}

/** Takes in a fault: moves the stage, and begins the teardown when it is the run's first. */
export function faultStage(
  draft: Draft,
  key: StageKey,
  trigger: StageTrigger,
  fault: StageFault,
  component: RunCause['component'],
): void {
  const found = findStage(draft, key);
  if (!found || found.stage.fault) {
    draft.ignored[found ? 'out-of-date' : 'old-generation'] += 1;
    return;
  }
  const { stage } = found;
  const moves = nextStagePhase(stage.phase, trigger) !== undefined;
  // A stage that is being stopped keeps its phase, but its fault may be the true cause.
  if (!moves && stage.phase !== 'STOPPING') {
    draft.ignored['out-of-date'] += 1;
    return;
  }
  if (moves) moveStage(draft, key, trigger);
  noteFault(draft, key, fault, component);
}

/** Keeps a stage's fault, tells those who watch, and lets the run draw its conclusion. */
export function noteFault(draft: Draft, key: StageKey, fault: StageFault, component: RunCause['component']): void {
  const found = findStage(draft, key);
  if (!found) return;
  const { run, stage } = found;
  const { index: stageIndex, nodeId } = stage;
  const revision = draft.record(run, {
    $case: 'fault',
    value: { stageIndex, nodeId, fault },
  });
  draft.putStage({ ...run, revision }, { ...stage, fault });
  observeFault(draft, key, {
    fault,
    stageIndex,
    nodeId,
    component,
    revision,
    fixed: false,
  });
}

/** Ends a live run for something that is no single stage's fault; any other run stays as it is. @param nodeId where it lies */
export function faultRun(
  draft: Draft,
  id: RunState['runId'],
  fault: StageFault,
  component: RunCause['component'],
  nodeId?: NodeId,
): void {
  const run = draft.run(id);
  if (!run || !isLive(run.phase)) return;
  // The run's own event, which comes next, is the one that reports it.
  const reported = revision(draft.cluster.revision + 1n);
  observeFault(draft, run, { fault, component, nodeId, revision: reported, fixed: false });
}

/** Begins the teardown of a live run, or weighs the cause of one that is ending. */
function observeFault(draft: Draft, key: Pick<StageKey, 'runId'>, candidate: RunCause): void {
  const run = draft.run(key.runId);
  if (!run) return;
  if (isLive(run.phase)) {
    draft.putRun({
      ...run,
      cause: { ...candidate, fixed: isPrimary(candidate) },
    });
    moveRun(draft, run.runId, mayBeginAgain(run, candidate) ? 'attempt-failed' : 'fault-observed');
    if (!isPrimary(candidate)) {
      const at = millis(draft.now + draft.rules.timings.cause);
      draft.arm({ kind: 'cause', runId: run.runId }, at);
    }
    return;
  }
  if (run.phase !== 'TEARING_DOWN' || !run.cause || run.cause.fixed) return;
  draft.putRun({ ...run, cause: betterCause(run.cause, candidate) });
  if (isPrimary(candidate)) fixCause(draft, run.runId);
}

/** From now on the run's cause stays what it is, and those who watch learn it. */
export function fixCause(draft: Draft, id: RunState['runId']): void {
  const run = draft.run(id);
  if (!run?.cause || run.cause.fixed) return;
  const nameOf = (nodeId: NodeId) => draft.node(nodeId)?.name ?? String(nodeId);
  const silent = isPrimary(run.cause)
    ? undefined
    : silentCause(run, run.cause, (nodeId) => draft.contact(nodeId), nameOf);
  recordRun(draft, { ...run, cause: { ...(silent ?? run.cause), fixed: true } });
}

/** Moves a run as the table says, and does what the new phase means. */
export function moveRun(
  draft: Draft,
  id: RunState['runId'],
  trigger: RunTrigger,
  stages: readonly StageStatus[] = [],
): boolean {
  const run = draft.run(id);
  const transition = run && findRunTransition(run, trigger);
  if (!run || !transition) return false;
  const moved = { ...run, phase: transition.to };
  recordRun(draft, transition.outcome ? decided(draft, moved, transition.outcome) : moved, stages);
  const { runId, generation } = run;
  if (transition.to === 'RUNNING' && run.mode === RunMode.RUN_MODE_ONE_SHOT) {
    draft.perform({ kind: 'begin-answer', runId, generation });
  }
  // One that is torn down already only learns its outcome.
  if (run.phase === 'TEARING_DOWN') settleRun(draft, id);
  else if (transition.to === 'TEARING_DOWN') tearDown(draft, id);
  return true;
}

/** Nothing is planned again. Only a run that FAULTED has a cause: what a stopped one was about to recover from is its last. */
function decided(draft: Draft, run: RunState, outcome: RunOutcome): RunState {
  const cause = outcome === 'FAULTED' ? run.cause : undefined;
  const lastCause = run.cause && !cause ? wireCause(run.cause, nodeOfCause(draft, run.cause)) : run.restart?.lastCause;
  return { ...run, outcome, cause, restart: run.restart && { ...run.restart, lastCause, basis: undefined } };
}

/** Looks whether the run's stages carry it further: acknowledged, ready, or settled. */
export function settleRun(draft: Draft, id: RunState['runId']): void {
  const run = draft.run(id);
  if (!run) return;
  if (isLive(run.phase)) {
    if (run.stages.every((stage) => stageRank(stage.phase) >= stageRank('ACCEPTED'))) {
      moveRun(draft, id, 'every-stage-acknowledged');
    }
    const ready = run.volatile.endpoint === 'ready' && run.stages.every((stage) => stage.phase === 'READY');
    if (ready) moveRun(draft, id, 'barrier-passed');
    noteLoaded(draft, id);
  } else if (isSettled(run)) {
    fixCause(draft, id);
    if (awaitsRestart(run)) armRestart(draft, id);
    else moveRun(draft, id, 'every-stage-settled');
  }
}

/** Nothing more is to be waited for: what is LOST may take for ever. */
export function isSettled({ stages }: RunState): boolean {
  return stages.every(({ phase }) => phase === 'STOPPED' || phase === 'LOST');
}

/** Sets a timer for the next attempt of a run that is to begin again. */
export function armRestart(draft: Draft, id: RunState['runId']): void {
  const run = draft.run(id);
  if (!run) return;
  const restartAt = run.volatile.restartAt ?? millis(draft.now + restartDelay(run));
  draft.putRun({ ...run, volatile: { ...run.volatile, restartAt } });
  draft.arm({ kind: 'restart', runId: id }, restartAt);
}

/** From the moment that every stage is loaded the edges have their time, and only that: what a stage repeats adds none. */
function noteLoaded(draft: Draft, id: RunState['runId']): void {
  const run = draft.run(id);
  if (!run || !awaitsEdges(run)) return;
  const loaded = run.stages.every(isLoaded);
  if (loaded === (run.volatile.loadedSince !== undefined)) return;
  draft.putRun({ ...run, volatile: { ...run.volatile, loadedSince: loaded ? draft.now : undefined } });
  armEdges(draft, id);
}

function tearDown(draft: Draft, id: RunState['runId']): void {
  const run = draft.run(id);
  if (!run) return;
  const { runId, generation } = run;
  draft.putRun({ ...run, volatile: {} });
  draft.perform({ kind: 'close-token-endpoint', runId, generation, reason: whyTornDown(run) });
  for (const stage of run.stages) {
    if (nextStagePhase(stage.phase, 'teardown-begun')) moveStage(draft, keyOf(run, stage), 'teardown-begun');
  }
  settleRun(draft, id);
}

function whyTornDown({ runId, outcome, cause }: RunState): string {
  switch (outcome) {
    case 'COMPLETED':
      return `run ${runId} has its answer`;
    case 'STOPPED':
      return `run ${runId} was stopped`;
    case 'FAULTED':
      return `run ${runId} faulted: ${cause?.fault.message}`;
    case undefined:
      return `run ${runId} is to begin again: ${cause?.fault.message}`;
  }
}

/**
 * Puts a run whose phase, outcome or cause is new, and tells those who watch.
 *
 * @param stages where those of a new generation are
 */
export function recordRun(draft: Draft, run: RunState, stages: readonly StageStatus[] = []): void {
  const revision = draft.record(run, {
    $case: 'runPhase',
    value: {
      phase: wireRunPhase(run.phase),
      outcome: wireRunOutcome(run.outcome),
      cause: run.cause?.fixed ? wireCause(run.cause, nodeOfCause(draft, run.cause)) : undefined,
      stages: [...stages],
    },
  });
  draft.putRun({ ...run, revision });
}

export function nodeOfCause(draft: Draft, { nodeId }: RunCause): NodeState | undefined {
  return nodeId === undefined ? undefined : draft.node(nodeId);
}

export function keyOf(run: RunState, stage: Pick<StageState, 'index'>): StageKey {
  return {
    runId: run.runId,
    stageIndex: stage.index,
    generation: run.generation,
  };
}
