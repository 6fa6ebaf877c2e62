import type { ModelFacts } from '../../../gen/stageplane/v1/model.js';
import type {
  NoValidPlanHint,
  PlacementInput,
  PlanCandidate,
  PlanRequest,
  SelectedPlan,
} from '../../../gen/stageplane/v1/planner.js';
import type { StageSettings } from '../../../gen/stageplane/v1/provision.js';
import type { PlanRejection } from '../../../gen/stageplane/v1/rejection.js';
import type { MemoryModel } from '../model/memory-model.js';
import { layersOfStage } from './layers-of-stage.js';
import { type ModelCuts, mostStages, splitAtCuts } from './model-cuts.js';
import { placeAutomatically } from './place-automatically.js';
import { type NodeObstacle, obstacleFor, type PoolNode } from './pool-node.js';
import { rejectForPool } from './request-rejections.js';
import type { PricingFacts } from './stage-pricing.js';

export interface PlacedStages {
  readonly kind: 'placed';
  readonly placement: NonNullable<PlacementInput['placement']>;
  readonly stageCount: number;
  /** "given", or who made it. */
  readonly strategy: string;
  /** One sentence each. */
  readonly because: readonly string[];
  /** Those of the request, or what was chosen where it leaves a choice. */
  readonly settings: StageSettings;
  /** What the search went by; absent when nobody searched. */
  readonly priced?: MemoryModel;
  /** Everything that was looked at; absent when nobody searched. */
  readonly candidates?: readonly PlanCandidate[];
  /** Why nodes may not be used, beyond what is true of them for every request. */
  readonly obstacles?: ReadonlyMap<bigint, NodeObstacle>;
}

/** No stages, and why. */
export interface UnplacedStages extends Pick<PlacedStages, 'candidates' | 'obstacles'> {
  readonly kind: 'rejected';
  readonly rejection: PlanRejection;
  readonly hint?: NoValidPlanHint | undefined;
}

export interface Placing {
  readonly request: PlanRequest;
  readonly facts: ModelFacts;
  readonly pool: readonly PoolNode[];
  readonly settings: StageSettings;
  readonly cuts: ModelCuts | undefined;
  readonly pricing: PricingFacts;
  /** What a dry run has chosen for this request: no search then. */
  readonly expected: SelectedPlan | undefined;
}

/** The placement as given, the best one when the request asks for that, or the usable nodes by ascending id. */
export function placeStages(placing: Placing): PlacedStages | UnplacedStages {
  const { request, expected } = placing;
  const given = request.placement;
  if (given?.$case === 'fixedLinear' || given?.$case === 'layerRanges') return asGiven(placing, given);
  if (given?.$case !== 'automatic') return placeEvenly(placing);
  return expected?.placement ? asExpected(placing, expected) : placeAutomatically(placing, given.value);
}

function asGiven({ request, settings }: Placing, given: PlacedStages['placement']): PlacedStages {
  const stageCount = request.stageCount || given.value.stages.length;
  const because = ['the request names this placement, and it keeps every rule'];
  return { kind: 'placed', placement: given, stageCount, strategy: 'given', because, settings };
}

function asExpected({ settings }: Placing, expected: SelectedPlan): PlacedStages {
  const value = expected.placement!;
  return {
    kind: 'placed',
    placement: { $case: 'layerRanges', value },
    stageCount: value.stages.length,
    strategy: expected.strategy,
    because: ['the dry run chose this placement, and each stage still fits'],
    settings: { ...settings, kvCacheType: expected.settings[0]?.kvCacheType ?? settings.kvCacheType },
  };
}

function placeEvenly({ request, facts, pool, settings, cuts }: Placing): PlacedStages | UnplacedStages {
  const usable = pool.filter((node) => !obstacleFor(node, settings));
  const most = Math.min(usable.length, facts.numLayers, cuts ? mostStages(cuts) : Number.POSITIVE_INFINITY);
  const stageCount = request.stageCount || most;
  if (usable.length === 0 || stageCount > usable.length) {
    const obstacles = pool.flatMap((node) => obstacleFor(node, settings) ?? []);
    return { kind: 'rejected', rejection: rejectForPool(usable.length, stageCount, obstacles) };
  }
  return { ...spread(usable.slice(0, stageCount), facts.numLayers, cuts), settings };
}

/** One stage per node, evenly: the planner's own split, unless the engine cannot cut the model there but nearby. */
function spread(
  nodes: readonly PoolNode[],
  numLayers: number,
  cuts: ModelCuts | undefined,
): Omit<PlacedStages, 'settings'> {
  const because = 'the request names no placement: the usable nodes by ascending id, one stage each, layers spread ';
  const stageCount = nodes.length;
  const stages = nodes.map(({ nodeId }, stageIndex) => ({ stageIndex, nodeId }));
  const starts = cuts && splitAtCuts(numLayers, stageCount, cuts);
  // Where there is no such split the even one is refused afterwards, with the reason.
  if (!starts || starts.every((start, at) => start === layersOfStage(numLayers, stageCount, at + 1).start)) {
    const placement: PlacedStages['placement'] = { $case: 'fixedLinear', value: { stages, activationEdges: [] } };
    return { kind: 'placed', placement, stageCount, strategy: 'even-split', because: [`${because}evenly`] };
  }
  const ranges = stages.map((stage) => ({
    ...stage,
    layerStart: starts[stage.stageIndex - 1] ?? 0,
    layerEndExclusive: starts[stage.stageIndex] ?? numLayers,
  }));
  const placement = { $case: 'layerRanges', value: { stages: ranges } } as const;
  const nearly = `${because}as evenly as engine "${cuts.engine}" can cut this model`;
  return { kind: 'placed', placement, stageCount, strategy: 'even-split', because: [nearly] };
}
