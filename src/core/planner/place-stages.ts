import type { ModelFacts } from '../../../gen/stageplane/v1/model.js';
import type { PlacementInput, PlanRequest } from '../../../gen/stageplane/v1/planner.js';
import type { StageSettings } from '../../../gen/stageplane/v1/provision.js';
import type { PlanRejection } from '../../../gen/stageplane/v1/rejection.js';
import { layersOfStage } from './layers-of-stage.js';
import { type ModelCuts, mostStages, splitAtCuts } from './model-cuts.js';
import { obstacleFor, type PoolNode } from './pool-node.js';
import { rejectForPool } from './request-rejections.js';

export interface PlacedStages {
  readonly kind: 'placed';
  readonly placement: NonNullable<PlacementInput['placement']>;
  readonly stageCount: number;
  readonly strategy: 'given' | 'even-split';
  /** One sentence. */
  readonly because: string;
}

export interface Placing {
  readonly request: PlanRequest;
  readonly facts: ModelFacts;
  readonly pool: readonly PoolNode[];
  readonly settings: StageSettings;
  readonly cuts: ModelCuts | undefined;
}

/** The placement as given, or the usable nodes by ascending id with one stage each. */
export function placeStages(placing: Placing): PlacedStages | { kind: 'rejected'; rejection: PlanRejection } {
  const { request, facts, pool, settings, cuts } = placing;
  const given = request.placement;
  if (given?.$case === 'fixedLinear' || given?.$case === 'layerRanges') {
    const stageCount = request.stageCount || given.value.stages.length;
    const because = 'the request names this placement, and it keeps every rule';
    return { kind: 'placed', placement: given, stageCount, strategy: 'given', because };
  }
  const usable = pool.filter((node) => !obstacleFor(node, settings));
  const most = Math.min(usable.length, facts.numLayers, cuts ? mostStages(cuts) : Number.POSITIVE_INFINITY);
  const stageCount = request.stageCount || most;
  if (usable.length === 0 || stageCount > usable.length) {
    const obstacles = pool.flatMap((node) => obstacleFor(node, settings) ?? []);
    return { kind: 'rejected', rejection: rejectForPool(usable.length, stageCount, obstacles) };
  }
  return spread(usable.slice(0, stageCount), facts.numLayers, cuts);
}

/** One stage per node, evenly: the planner's own split, unless the engine cannot cut the model there but nearby. */
function spread(nodes: readonly PoolNode[], numLayers: number, cuts: ModelCuts | undefined): PlacedStages {
  const because = 'the request names no placement: the usable nodes by ascending id, one stage each, layers spread ';
  const stageCount = nodes.length;
  const stages = nodes.map(({ nodeId }, stageIndex) => ({ stageIndex, nodeId }));
  const starts = cuts && splitAtCuts(numLayers, stageCount, cuts);
  // Where there is no such split the even one is refused afterwards, with the reason.
  if (!starts || starts.every((start, at) => start === layersOfStage(numLayers, stageCount, at + 1).start)) {
    const placement: PlacedStages['placement'] = { $case: 'fixedLinear', value: { stages, activationEdges: [] } };
    return { kind: 'placed', placement, stageCount, strategy: 'even-split', because: `${because}evenly` };
  }
  const ranges = stages.map((stage) => ({
    ...stage,
    layerStart: starts[stage.stageIndex - 1] ?? 0,
    layerEndExclusive: starts[stage.stageIndex] ?? numLayers,
  }));
  const placement = { $case: 'layerRanges', value: { stages: ranges } } as const;
  const nearly = `${because}as evenly as engine "${cuts.engine}" can cut this model`;
  return { kind: 'placed', placement, stageCount, strategy: 'even-split', because: nearly };
}
