import type { WatchRunResponse } from '../../gen/stageplane/v1/orchestrator_service.js';
import {
  type LoadProgress,
  type ReservationExceeded,
  type Run,
  type RunCause,
  type RunEvent,
  RunOutcome,
  RunPhase,
  type StageFault,
  StagePhase,
  type StageStatus,
} from '../../gen/stageplane/v1/run.js';

/** A run as its watcher knows it: what it was at first, and every update since. */
export interface RunView {
  readonly runId: bigint;
  readonly phase: RunPhase;
  readonly outcome: RunOutcome;
  readonly cause: RunCause | undefined;
  readonly generation: number;
  /** What the plan promised of its arithmetic; empty when it is not known. Not escaped. */
  readonly fidelity: string;
  readonly stages: readonly StageView[];
}

export interface StageView {
  readonly index: number;
  readonly nodeId: bigint;
  /** For people; not escaped. */
  readonly node: string;
  readonly phase: StagePhase;
  readonly layerStart: number;
  readonly layerEnd: number;
  readonly progress: LoadProgress | undefined;
  readonly fault: StageFault | undefined;
  /** Set once a watch has told it. */
  readonly exceeded: ReservationExceeded | undefined;
}

export function runViewOf(run: Run): RunView {
  return {
    runId: run.runId,
    phase: run.phase,
    outcome: run.outcome,
    cause: run.cause,
    generation: run.generation,
    fidelity: run.fidelity,
    stages: run.stages.map(stageViewOf),
  };
}

function stageViewOf(stage: StageStatus): StageView {
  return {
    index: stage.stageIndex,
    nodeId: stage.nodeId,
    node: stage.nodeName || `node ${stage.nodeId}`,
    phase: stage.phase,
    layerStart: stage.layerStart,
    layerEnd: stage.layerEndExclusive,
    progress: stage.progress,
    fault: stage.fault,
    exceeded: undefined,
  };
}

/** The run before its first event, for a watch that tells its whole history. */
export function unplayed(view: RunView): RunView {
  const phase = RunPhase.RUN_PHASE_UNSPECIFIED;
  return { ...nextGeneration(view, 0), phase, outcome: RunOutcome.RUN_OUTCOME_UNSPECIFIED };
}

/** The view after one update. */
export function advanceRun(view: RunView, { update }: WatchRunResponse): RunView {
  switch (update?.$case) {
    case 'event':
      return afterEvent(view, update.value);
    case 'loading':
      return withStage(view, update.value.stageIndex, { progress: update.value.progress });
    default:
      return view;
  }
}

export function isOver(view: RunView): boolean {
  return view.phase === RunPhase.RUN_PHASE_DONE;
}

export function isFaulted(view: RunView): boolean {
  return view.outcome === RunOutcome.RUN_OUTCOME_FAULTED;
}

function afterEvent(view: RunView, { detail, generation }: RunEvent): RunView {
  // What becomes of an earlier generation is no part of the picture any more.
  if (generation < view.generation) return view;
  const current = generation > view.generation ? nextGeneration(view, generation) : view;
  switch (detail?.$case) {
    case 'runPhase': {
      const { phase, outcome, cause, stages } = detail.value;
      const placed = stages.length > 0 ? { stages: stages.map(stageViewOf) } : {};
      return { ...current, ...placed, phase, outcome, cause: cause ?? current.cause };
    }
    case 'stagePhase': {
      const { stageIndex, nodeId, phase } = detail.value;
      return withStage(current, stageIndex, { phase, ...movedTo(current, stageIndex, nodeId) });
    }
    case 'fault':
      return withStage(current, detail.value.stageIndex, { fault: detail.value.fault });
    case 'reservationExceeded':
      return withStage(current, detail.value.stageIndex, { exceeded: detail.value });
    default:
      return current;
  }
}

/** A new attempt: no stage has been sent yet, and what went wrong before is history. */
function nextGeneration(view: RunView, generation: number): RunView {
  const fresh = { phase: StagePhase.STAGE_PHASE_PENDING, progress: undefined, fault: undefined, exceeded: undefined };
  return { ...view, generation, cause: undefined, stages: view.stages.map((stage) => ({ ...stage, ...fresh })) };
}

/** Only a new generation puts a stage on another node, whose name the event does not tell. */
function movedTo(view: RunView, index: number, nodeId: bigint): Partial<StageView> {
  const known = view.stages.find((stage) => stage.index === index);
  return known && known.nodeId !== nodeId ? { nodeId, node: `node ${nodeId}` } : {};
}

function withStage(view: RunView, index: number, change: Partial<StageView>): RunView {
  return { ...view, stages: view.stages.map((stage) => (stage.index === index ? { ...stage, ...change } : stage)) };
}
