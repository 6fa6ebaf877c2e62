import {
  type AutomaticPlacement,
  EstimateBasis,
  type PlacementConstraints,
  type PlanCandidate,
} from '../../../gen/stageplane/v1/planner.js';
import { KvCacheType, type StageSettings } from '../../../gen/stageplane/v1/provision.js';
import { type PlanRejection, PlanRejectionKind } from '../../../gen/stageplane/v1/rejection.js';
import { formatBytes } from '../format-bytes.js';
import { nodeId } from '../ids.js';
import type { MemoryModel } from '../model/memory-model.js';
import type { Candidate } from '../placement/candidate.js';
import { choosePlacement } from '../placement/choose-placement.js';
import { smallestNewNode } from '../placement/nearest-miss.js';
import { noPlanHint, type Relaxation } from '../placement/no-plan-hint.js';
import { objectiveOf } from '../placement/objective.js';
import type { PlacementProblem } from '../placement/placement-problem.js';
import { layerRangesOf, planCandidate } from '../placement/plan-candidate.js';
import { rejectPlacement } from '../placement/reject-placement.js';
import { automaticPool } from './automatic-pool.js';
import type { PlacedStages, Placing, UnplacedStages } from './place-stages.js';
import { cacheTypesToTry, placementProblem, shorterContexts } from './placement-request.js';
import { rejectForPool } from './request-rejections.js';
import { priceModel } from './stage-pricing.js';

/** The search for a placement of one request with one set of settings. */
interface Search {
  readonly placing: Placing;
  readonly constraints: PlacementConstraints;
  readonly model: MemoryModel;
}

/** A hint takes several searches more, so it is made of the one that is reported, once nothing else has worked. */
interface Unplaced extends UnplacedStages {
  readonly missed?: Missed;
}

interface Missed extends Search {
  readonly problem: PlacementProblem;
}

/** The best placement for what the launcher cares about, or why there is none and what would unlock it. */
export function placeAutomatically(placing: Placing, asked: AutomaticPlacement): PlacedStages | UnplacedStages {
  const constraints = asked.constraints ?? noConstraints;
  let first: Unplaced | undefined;
  for (const kvCacheType of cacheTypesToTry(placing.settings, constraints)) {
    const settings = { ...placing.settings, kvCacheType };
    const outcome = placeWith({ ...placing, settings }, constraints, asked);
    if (outcome.kind === 'placed') return outcome;
    first ??= outcome;
  }
  const { missed, ...rejected } = first!;
  return { ...rejected, hint: missed && noPlanHint(missed.problem, relaxations(missed)) };
}

function placeWith(
  placing: Placing,
  constraints: PlacementConstraints,
  asked: AutomaticPlacement,
): PlacedStages | Unplaced {
  const { settings, pricing } = placing;
  const model = priceModel(pricing, settings);
  if (model.kind === 'unknown') return unplaced(rejectForUnknownMemory(model.message));
  const search: Search = { placing, constraints, model };
  const { nodes, obstacles } = automaticPool(placing.pool, settings, constraints);
  if (nodes.length === 0) {
    const reasons = [...obstacles.values()];
    return { ...unplaced(rejectForPool(0, placing.request.stageCount || 1, reasons)), obstacles };
  }
  const problem = placementProblem(search, nodes);
  const outcome = choosePlacement(problem, objectiveOf(asked.objective));
  const profiling = nodes.some(({ profilingRequired }) => profilingRequired);
  const candidates = outcome.candidates.map((candidate) => reported(candidate, model, profiling));
  if (outcome.kind === 'rejected') {
    return { ...unplaced(rejectPlacement(outcome.fault)), candidates, obstacles, missed: { ...search, problem } };
  }
  const { strategy, placement } = outcome.selected;
  return {
    kind: 'placed',
    placement: { $case: 'layerRanges', value: layerRangesOf(placement) },
    stageCount: placement.stages.length,
    strategy,
    because: [...outcome.selectedBecause, ...cacheTypeReason(placing, settings)],
    settings,
    priced: model,
    candidates,
    obstacles,
  };
}

const noConstraints: PlacementConstraints = {
  allowKvQuantisation: false,
  layerCaps: [],
  excludedNodeIds: [],
  pins: [],
};

const NOTE =
  'computed from the bytes that a token reads, the known bandwidth of each device, and the hops between nodes';

/** Of a node that is not there yet: no agent ever gets it. */
const NEW_NODE_ID = nodeId(0n);

function reported(candidate: Candidate, model: MemoryModel, profilingRequired: boolean): PlanCandidate {
  const stages = candidate.placement?.stages ?? [];
  const memory = stages.map(({ node, layerStart, layerEndExclusive }, stageIndex) =>
    model.stage(layerStart, layerEndExclusive, { stageIndex, nodeId: node.nodeId }),
  );
  const basis = EstimateBasis.ESTIMATE_BASIS_STATIC;
  return planCandidate(candidate, { memory, basis, note: NOTE, profilingRequired });
}

/** What else a launcher could ask for, the least loss first. Made only as far as the first that helps. */
function* relaxations({ placing, constraints, problem }: Missed): Generator<Relaxation> {
  const { settings, pricing } = placing;
  // Where they are allowed they have been tried.
  const cacheTypes = constraints.allowKvQuantisation ? [] : cacheTypesToTry(settings, { allowKvQuantisation: true });
  for (const kvCacheType of cacheTypes.slice(1)) {
    yield* relaxed({ ...settings, kvCacheType }, 'allow a quantised KV cache');
  }
  for (const contextLength of shorterContexts(settings)) {
    yield* relaxed({ ...settings, contextLength }, `ask for a context of ${contextLength} tokens`);
  }
  const isBounded = placing.request.stageCount > 0 || constraints.maxStages !== undefined;
  yield* oneMoreNode(isBounded ? problem : { ...problem, maxStages: problem.maxStages + 1 });

  function* relaxed(other: StageSettings, text: string): Generator<Relaxation> {
    const model = priceModel(pricing, other);
    if (model.kind === 'unknown') return;
    const search = { constraints, placing: { ...placing, settings: other }, model };
    yield { text, problem: placementProblem(search, problem.nodes) };
  }
}

/** As fast as the first one, and just large enough. No pin names it, and no cap holds it back. */
function* oneMoreNode(problem: PlacementProblem): Generator<Relaxation> {
  const [first] = problem.nodes;
  if (!first) return;
  const like = { ...first, nodeId: NEW_NODE_ID, maxLayers: undefined };
  const usable = smallestNewNode(problem, like);
  if (usable === undefined) return;
  const text = `add a node that can give ${formatBytes(usable)} after its headroom`;
  yield { text, problem: { ...problem, nodes: [...problem.nodes, { ...like, usable, capacity: usable }] } };
}

function cacheTypeReason({ request }: Placing, { kvCacheType }: StageSettings): string[] {
  const asked = request.settings?.kvCacheType;
  const isOther = kvCacheType !== (asked || KvCacheType.KV_CACHE_TYPE_F16);
  return isOther ? ['keys and values are quantised, since nothing fits otherwise and the request allows it'] : [];
}

function rejectForUnknownMemory(message: string): PlanRejection {
  return {
    kind: PlanRejectionKind.PLAN_REJECTION_KIND_UNSUPPORTED_MODEL,
    message,
    violations: [{ field: 'placement.automatic', message }],
  };
}

function unplaced(rejection: PlanRejection): Unplaced {
  return { kind: 'rejected', rejection };
}
