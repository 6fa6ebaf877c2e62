import { PlanRejectionKind as Kind } from '../../../gen/stageplane/v1/rejection.js';
import type { PlanRule } from './first-rejection.js';
import { layerRangeFaults, type PlacedRange } from './layer-range-faults.js';
import { emptyObjects, emptyRows, objectsTooLarge, rowsTooWide, tooFewLayers, unusableRings } from './model-rules.js';
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

function* noStages({ stageCount }: PlanningDraft): Iterable<PlanFault> {
  if (stageCount === 0) yield { kind: 'no-stages', field: 'stage_count' };
}

/** Entry by entry, so the earliest faulty entry decides; entries at or above `stage_count` are held to it too. */
function* misplacedStages({ placements, byStage, pool }: PlanningDraft): Iterable<PlanFault> {
  for (const placement of placements) {
    const { field, stageIndex, nodeId } = placement;
    const first = byStage.get(stageIndex);
    if (!pool.has(nodeId))
      yield {
        kind: 'unknown-node',
        field: `${field}.node_id`,
        stageIndex,
        nodeId,
      };
    if (first && first !== placement) {
      yield {
        kind: 'duplicate-stage',
        field: `${field}.stage_index`,
        stageIndex,
        first: first.field,
      };
    }
  }
}

/** Ends after `placements + 16` steps at most, because the reader of the faults takes 16: never after `stage_count`. */
function* missingStages({ stageCount, byStage, placementField }: PlanningDraft): Iterable<PlanFault> {
  for (let stageIndex = 0; stageIndex < stageCount; stageIndex++) {
    if (!byStage.has(stageIndex))
      yield {
        kind: 'missing-stage',
        field: placementField,
        stageIndex,
        stageCount,
      };
  }
}

/** Only explicit ranges can be wrong. Every stage has a placement by now. */
function wrongLayerRanges({ stageCount, numLayers, byStage }: PlanningDraft): Iterable<PlanFault> {
  const ranges: PlacedRange[] = [];
  for (let stageIndex = 0; stageIndex < stageCount; stageIndex++) {
    const placement = byStage.get(stageIndex);
    if (placement?.range) ranges.push({ stageIndex, field: placement.field, ...placement.range });
  }
  return layerRangeFaults(ranges, numLayers);
}

function* wrongActivationEdges({ input, stageCount }: PlanningDraft): Iterable<PlanFault> {
  const { placement } = input.placement;
  const edges = placement.$case === 'fixedLinear' ? placement.value.activationEdges : [];
  if (edges.length === 0) return;
  const field = 'placement.fixed_linear.activation_edges';
  for (const [position, { producerStage, consumerStage }] of edges.slice(0, stageCount - 1).entries()) {
    if (producerStage !== position || consumerStage !== position + 1) {
      const at = `${field}[${position}]`;
      yield {
        kind: 'activation-edge-differs',
        field: at,
        position,
        producer: producerStage,
        consumer: consumerStage,
      };
    }
  }
  if (edges.length !== stageCount - 1) {
    yield {
      kind: 'activation-edge-count',
      field,
      got: edges.length,
      expected: stageCount - 1,
    };
  }
}
