import {
  RestartMode,
  type RestartPolicy,
  type Run,
  type RunSummary,
  type StageStatus,
} from '../../gen/stageplane/v1/run.js';
import type { NodeId } from '../core/ids.js';
import { wireCause } from '../core/machine/run-cause.js';
import type { Remnant, RestartState, RunState, StageState, World } from '../core/machine/state.js';
import { wireRunOutcome, wireRunPhase, wireStagePhase } from '../core/machine/wire-names.js';

/** A run as launchers see it. */
export function runView(world: World, run: RunState): Run {
  return {
    runId: run.runId,
    requestId: run.requestId,
    mode: run.mode,
    phase: wireRunPhase(run.phase),
    outcome: wireRunOutcome(run.outcome),
    cause: run.cause?.fixed ? wireCause(run.cause, nodeOf(world, run.cause.nodeId)) : undefined,
    generation: run.generation,
    plan: run.plan,
    settings: [...run.settings],
    stages: run.stages.map((stage) => stageView(world, run, stage)),
    planId: run.planId,
    restart: restartPolicy(run.restart),
    createdAt: new Date(run.createdAt),
    revision: run.revision,
    fidelity: run.fidelity,
    restarts: run.restart?.attempts ?? 0,
    lastCause: run.restart?.lastCause,
    earlierStages: run.remnants.map((remnant) => remnantView(world, remnant)),
    restartObstacle: run.restart?.obstacle ?? '',
  };
}

function restartPolicy(restart: RestartState | undefined): RestartPolicy {
  if (!restart) return { mode: RestartMode.RESTART_MODE_NEVER, maxAttempts: 0, backoffMillis: 0n };
  const { maxAttempts, backoff } = restart;
  return { mode: RestartMode.RESTART_MODE_ON_FAULT, maxAttempts, backoffMillis: BigInt(backoff) };
}

/** A run as a line of a list. */
export function runSummary(run: RunState): RunSummary {
  const { modelId = '' } = run.plan.model ?? {};
  return {
    runId: run.runId,
    modelId,
    mode: run.mode,
    phase: wireRunPhase(run.phase),
    outcome: wireRunOutcome(run.outcome),
    generation: run.generation,
    stageCount: run.stages.length,
    readyStages: run.stages.filter((stage) => stage.phase === 'READY').length,
    createdAt: new Date(run.createdAt),
    revision: run.revision,
    cause: run.cause?.fixed ? run.cause.fault.message : '',
    restarts: run.restart?.attempts ?? 0,
  };
}

function stageView(world: World, run: RunState, stage: StageState): StageStatus {
  const plan = run.plan.stages[stage.index]!;
  return {
    stageIndex: stage.index,
    nodeId: stage.nodeId,
    nodeName: nodeOf(world, stage.nodeId)?.name ?? '',
    phase: wireStagePhase(stage.phase),
    layerStart: plan.layerStart,
    layerEndExclusive: plan.layerEndExclusive,
    fault: stage.fault,
    footprint: stage.footprint,
    progress: stage.phase === 'LOADING' ? stage.volatile.progress : undefined,
    usage: stage.phase === 'READY' ? stage.volatile.usage : undefined,
    generation: 0,
  };
}

function remnantView(world: World, { generation, stage }: Remnant): StageStatus {
  return {
    stageIndex: stage.index,
    nodeId: stage.nodeId,
    nodeName: nodeOf(world, stage.nodeId)?.name ?? '',
    phase: wireStagePhase(stage.phase),
    layerStart: 0,
    layerEndExclusive: 0,
    fault: stage.fault,
    footprint: stage.footprint,
    generation,
  };
}

function nodeOf(world: World, id: NodeId | undefined) {
  return id === undefined ? undefined : world.nodes.get(id);
}
