import {
  AutomaticPlacement,
  FixedLinearPlacement,
  LayerRangesPlacement,
  PlacementObjective as Objective,
  PlacementConstraints,
  type PlanRequest,
} from '../../../gen/stageplane/v1/planner.js';
import type { PlanForm } from './plan-form.js';
import { inParts, whole } from './typed-number.js';

const objectives = {
  fastest: Objective.PLACEMENT_OBJECTIVE_FASTEST,
  throughput: Objective.PLACEMENT_OBJECTIVE_THROUGHPUT,
  'fewest-nodes': Objective.PLACEMENT_OBJECTIVE_FEWEST_NODES,
  balanced: Objective.PLACEMENT_OBJECTIVE_BALANCED,
};

/** The placement that the form gives, or what bounds the orchestrator's choice. */
export function placementOf(form: PlanForm): PlanRequest['placement'] {
  if (form.placement === 'given') return givenPlacement(form);
  const objective = objectives[form.placement];
  return {
    $case: 'automatic',
    value: AutomaticPlacement.fromPartial({ objective, constraints: constraintsOf(form) }),
  };
}

/** With layers for any stage, those of all are given; without, they are spread evenly. */
function givenPlacement({ stages }: PlanForm): PlanRequest['placement'] {
  const placed = stages.map(({ node }, stageIndex) => ({ stageIndex, nodeId: BigInt(node || 0) }));
  if (stages.every(({ layers }) => layers.trim() === '')) {
    return { $case: 'fixedLinear', value: FixedLinearPlacement.fromPartial({ stages: placed }) };
  }
  const ranges = placed.map((stage, at) => ({ ...stage, ...rangeOf(stages[at]?.layers ?? '') }));
  return { $case: 'layerRanges', value: LayerRangesPlacement.fromPartial({ stages: ranges }) };
}

function rangeOf(layers: string) {
  const [start, end] = layers.split('-');
  return { layerStart: whole(start), layerEndExclusive: whole(end) };
}

function constraintsOf(form: PlanForm): PlacementConstraints {
  const wishes = Object.entries(form.nodes).map(([id, wish]) => ({ ...wish, nodeId: BigInt(id) }));
  const kept = wishes.filter(({ isExcluded }) => !isExcluded);
  const percent = whole(form.headroom);
  const micros = inParts(form.secondsPerToken, 1_000_000);
  return PlacementConstraints.fromPartial({
    minStages: whole(form.minStages),
    maxStages: whole(form.maxStages),
    headroomMillis: percent && percent * 10,
    maxMicrosecondsPerToken: micros === undefined ? undefined : BigInt(micros),
    allowKvQuantisation: form.allowKvQuantisation,
    excludedNodeIds: wishes.filter(({ isExcluded }) => isExcluded).map(({ nodeId }) => nodeId),
    layerCaps: kept.flatMap(({ nodeId, maxLayers }) => {
      const layers = whole(maxLayers);
      return layers === undefined ? [] : [{ nodeId, maxLayers: layers }];
    }),
    pins: kept.flatMap(({ nodeId, pinned }) => stagesIn(pinned).map((stageIndex) => ({ stageIndex, nodeId }))),
  });
}

function stagesIn(text: string): number[] {
  return text.split(',').flatMap((one) => whole(one) ?? []);
}
