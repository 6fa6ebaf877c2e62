import { PlanRejectionKind as Kind } from '../../../gen/stageplane/v1/rejection.js';
import type { PlanRule } from './first-rejection.js';
import { layerRangeFaults, type PlacedRange } from './layer-range-faults.js';
import { emptyObjects, emptyRows, objectsTooLarge, rowsTooWide, tooFewLayers, unusableRings } from './model-rules.js';
import { nodePool } from './node-pool.js';
import type { PlanFault } from './plan-fault.js';
import type { PlanningDraft } from './planning-draft.js';

/**
 * The planner's checks. The order is the contract: the first row that finds a fault decides the rejection. Before all of
 * them an input that is no whole message is MALFORMED_INPUT.
 */
export const plannerRules: readonly PlanRule<PlanningDraft>[] = [
  { decides: [Kind.PLAN_REJECTION_KIND_INVALID_STAGE_COUNT], faults: noStages },
  {
    decides: [Kind.PLAN_REJECTION_KIND_MODEL_STAGE_LAYOUT_MISMATCH],
    faults: tooFewLayers,
  },
  {
    decides: [Kind.PLAN_REJECTION_KIND_INVALID_OBJECT_SPEC],
    faults: emptyObjects,
  },
  {
    decides: [Kind.PLAN_REJECTION_KIND_UNSUPPORTED_SHAPE_OR_LAYOUT],
    faults: emptyRows,
  },
  {
    decides: [Kind.PLAN_REJECTION_KIND_INVALID_RING_SPEC],
    faults: unusableRings,
  },
  {
    decides: [Kind.PLAN_REJECTION_KIND_UNKNOWN_NODE, Kind.PLAN_REJECTION_KIND_DUPLICATE_STAGE_ASSIGNMENT],
    faults: misplacedStages,
  },
  { decides: [Kind.PLAN_REJECTION_KIND_MISSING_STAGE], faults: missingStages },
  {
    decides: [Kind.PLAN_REJECTION_KIND_MODEL_STAGE_LAYOUT_MISMATCH],
    faults: wrongLayerRanges,
  },
  {
    decides: [Kind.PLAN_REJECTION_KIND_EDGE_ENDPOINT_MISMATCH],
    faults: wrongActivationEdges,
  },
  {
    decides: [Kind.PLAN_REJECTION_KIND_UNSUPPORTED_SHAPE_OR_LAYOUT],
    faults: rowsTooWide,
  },
  {
    decides: [Kind.PLAN_REJECTION_KIND_INVALID_OBJECT_SPEC],
    faults: objectsTooLarge,
  },
];

function noStages({ stageCount }: PlanningDraft): PlanFault[] {
  return stageCount === 0 ? [{ kind: 'no-stages', field: 'stage_count' }] : [];
}

/** Entry by entry, so the earliest faulty entry decides; entries at or above `stage_count` are held to it too. */
function* misplacedStages({ input, placements, placementField, positionOf }: PlanningDraft): Iterable<PlanFault> {
  const isInPool = nodePool(input.candidatePool);
  for (let position = 0; position < placements.length; position++) {
    const { stageIndex, nodeId } = placements[position]!;
    if (!isInPool(nodeId, position)) {
      yield { kind: 'unknown-node', field: `${placementField}[${position}].node_id`, stageIndex, nodeId };
    }
    const first = positionOf(stageIndex);
    if (first !== position) {
      const field = `${placementField}[${position}].stage_index`;
      yield { kind: 'duplicate-stage', field, stageIndex, first: `${placementField}[${first}]` };
    }
  }
}

/** Ends after `placements + 16` steps at most, because the reader of the faults takes 16: never after `stage_count`. */
function* missingStages({ stageCount, positionOf, placementField }: PlanningDraft): Iterable<PlanFault> {
  for (let stageIndex = 0; stageIndex < stageCount; stageIndex++) {
    if (positionOf(stageIndex) === undefined) {
      yield { kind: 'missing-stage', field: placementField, stageIndex, stageCount };
    }
  }
}

/** Only explicit ranges can be wrong. Every stage has a placement by now. */
function wrongLayerRanges({ input, stageCount, numLayers, positionOf, placementField }: PlanningDraft) {
  const { placement } = input.placement;
  if (placement.$case === 'fixedLinear') return [];
  const ranges: PlacedRange[] = [];
  for (let stageIndex = 0; stageIndex < stageCount; stageIndex++) {
    const position = positionOf(stageIndex)!;
    const { layerStart: start, layerEndExclusive: endExclusive } = placement.value.stages[position]!;
    ranges.push({ stageIndex, field: `${placementField}[${position}]`, start, endExclusive });
  }
  return layerRangeFaults(ranges, numLayers);
}

function wrongActivationEdges({ input, stageCount }: PlanningDraft): Iterable<PlanFault> {
  const { placement } = input.placement;
  if (placement.$case === 'layerRanges' || placement.value.activationEdges.length === 0) return [];
  return activationEdgeFaults(placement.value.activationEdges, stageCount);
}

function* activationEdgeFaults(
  edges: readonly { producerStage: number; consumerStage: number }[],
  stageCount: number,
): Iterable<PlanFault> {
  const field = 'placement.fixed_linear.activation_edges';
  for (const [position, { producerStage: producer, consumerStage: consumer }] of edges.entries()) {
    if (position === stageCount - 1) break;
    if (producer !== position || consumer !== position + 1) {
      yield { kind: 'activation-edge-differs', field: `${field}[${position}]`, position, producer, consumer };
    }
  }
  if (edges.length !== stageCount - 1) {
    yield { kind: 'activation-edge-count', field, got: edges.length, expected: stageCount - 1 };
  }
}
