import type { LayerRange } from './layers-of-stage.js';
import type { PlanNumbers } from './model-rules.js';
import type { WholePlannerInput } from './planner-shapes.js';

/** One entry of the placement, whichever way it was given. */
export interface Placement {
  /** Path of the entry, such as `placement.fixed_linear.stages[2]`. */
  field: string;
  stageIndex: number;
  nodeId: bigint;
  /** Explicit layers; absent when they are spread evenly. */
  range?: LayerRange;
}

/** A planner input arranged for the rules: placements in the order given, and the first one of each stage. */
export interface PlanningDraft extends PlanNumbers {
  input: WholePlannerInput;
  pool: ReadonlySet<bigint>;
  /** Path of the list that the placements come from. */
  placementField: string;
  placements: readonly Placement[];
  byStage: ReadonlyMap<number, Placement>;
}

export function planningDraft(input: WholePlannerInput): PlanningDraft {
  const { numLayers, hiddenDim, dtypeWidthBytes, maxSeqLen } = input.model;
  const { placementField, placements } = placementsOf(input);
  const byStage = new Map<number, Placement>();
  for (const placement of placements) {
    if (!byStage.has(placement.stageIndex)) byStage.set(placement.stageIndex, placement);
  }
  const rings = [
    { field: 'activation_ring', ...input.activationRing },
    { field: 'token_ring', ...input.tokenRing },
  ];
  return {
    input,
    pool: new Set(input.candidatePool),
    placementField,
    placements,
    byStage,
    stageCount: input.stageCount,
    numLayers,
    hiddenDim,
    dtypeWidthBytes,
    maxSeqLen,
    rings,
  };
}

function placementsOf({ placement: { placement } }: WholePlannerInput): {
  placementField: string;
  placements: Placement[];
} {
  if (placement.$case === 'fixedLinear') {
    const placementField = 'placement.fixed_linear.stages';
    const placements = placement.value.stages.map(({ stageIndex, nodeId }, position) => ({
      field: `${placementField}[${position}]`,
      stageIndex,
      nodeId,
    }));
    return { placementField, placements };
  }
  const placementField = 'placement.layer_ranges.stages';
  const placements = placement.value.stages.map(({ stageIndex, nodeId, layerStart, layerEndExclusive }, position) => ({
    field: `${placementField}[${position}]`,
    stageIndex,
    nodeId,
    range: { start: layerStart, endExclusive: layerEndExclusive },
  }));
  return { placementField, placements };
}
