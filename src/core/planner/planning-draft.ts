import type { PlanNumbers } from './model-rules.js';
import type { WholePlannerInput } from './read-planner-input.js';

/** A planner input arranged for the rules. */
export interface PlanningDraft extends PlanNumbers {
  readonly input: WholePlannerInput;
  /** Path of the list that the placements come from, such as `placement.fixed_linear.stages`. */
  readonly placementField: string;
  /** In the order given, whichever way they were given. */
  readonly placements: readonly Placement[];
  /** Where a stage's first placement stands among them. */
  readonly positionOf: (stageIndex: number) => number | undefined;
}

type Placing = WholePlannerInput['placement']['placement'];
export type Placement = Placing['value']['stages'][number];

export function planningDraft(input: WholePlannerInput): PlanningDraft {
  const { model, activationRing, tokenRing } = input;
  const { placement } = input.placement;
  const placements: readonly Placement[] = placement.value.stages;
  return {
    input,
    placementField: fieldOf[placement.$case],
    placements,
    positionOf: firstPositions(placements),
    stageCount: input.stageCount,
    numLayers: model.numLayers,
    hiddenDim: model.hiddenDim,
    dtypeWidthBytes: model.dtypeWidthBytes,
    maxSeqLen: model.maxSeqLen,
    rings: [
      { field: 'activation_ring', dataCapacity: activationRing.dataCapacity, alignment: activationRing.alignment },
      { field: 'token_ring', dataCapacity: tokenRing.dataCapacity, alignment: tokenRing.alignment },
    ],
  };
}

const fieldOf: Record<Placing['$case'], string> = {
  fixedLinear: 'placement.fixed_linear.stages',
  layerRanges: 'placement.layer_ranges.stages',
};

function firstPositions(placements: readonly Placement[]): PlanningDraft['positionOf'] {
  // As people and programs write them; an index would be most of the work.
  if (placements.every(({ stageIndex }, position) => stageIndex === position)) {
    return (stageIndex) => (stageIndex < placements.length ? stageIndex : undefined);
  }
  const positions = new Map<number, number>();
  for (const [position, { stageIndex }] of placements.entries()) {
    if (!positions.has(stageIndex)) positions.set(stageIndex, position);
  }
  return (stageIndex) => positions.get(stageIndex);
}
