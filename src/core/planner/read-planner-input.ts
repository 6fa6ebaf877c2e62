import type { PlacementInput, PlannerInput } from '../../../gen/stageplane/v1/planner.js';
import { ringSpec } from './read-edge.js';
import {
  type Choice,
  type Chosen,
  field,
  fieldsOf,
  isMessage,
  list,
  type Reader,
  type Steps,
  unset,
  type Whole,
} from './read-message.js';
import { modelFacts } from './read-model.js';
import { runtimeConfig } from './read-runtime.js';
import { u32, u64 } from './read-scalar.js';

type Placement = NonNullable<PlacementInput['placement']>;
type FixedLinear = Extract<Placement, { $case: 'fixedLinear' }>['value'];
type LayerRanges = Extract<Placement, { $case: 'layerRanges' }>['value'];
type FixedStage = FixedLinear['stages'][number];
type ActivationEdge = FixedLinear['activationEdges'][number];
type RangedStage = LayerRanges['stages'][number];

const fixedStages = list(((value, faults) => {
  if (!isMessage<FixedStage>(value)) return unset(faults);
  return {
    stageIndex: field('stage_index', u32, value.stageIndex, faults),
    nodeId: field('node_id', u64, value.nodeId, faults),
  };
}) satisfies Reader<Required<FixedStage>>);

const activationEdges = list(((value, faults) => {
  if (!isMessage<ActivationEdge>(value)) return unset(faults);
  return {
    producerStage: field('producer_stage', u32, value.producerStage, faults),
    consumerStage: field('consumer_stage', u32, value.consumerStage, faults),
  };
}) satisfies Reader<Required<ActivationEdge>>);

const rangedStages = list(((value, faults) => {
  if (!isMessage<RangedStage>(value)) return unset(faults);
  return {
    stageIndex: field('stage_index', u32, value.stageIndex, faults),
    nodeId: field('node_id', u64, value.nodeId, faults),
    layerStart: field('layer_start', u32, value.layerStart, faults),
    layerEndExclusive: field('layer_end_exclusive', u32, value.layerEndExclusive, faults),
  };
}) satisfies Reader<Required<RangedStage>>);

const fixedLinear = ((value, faults) => {
  if (!isMessage<FixedLinear>(value)) return unset(faults);
  return {
    stages: field('stages', fixedStages, value.stages, faults),
    activationEdges: field('activation_edges', activationEdges, value.activationEdges, faults),
  };
}) satisfies Reader<Required<FixedLinear>>;

const layerRanges = ((value, faults) => {
  if (!isMessage<LayerRanges>(value)) return unset(faults);
  return { stages: field('stages', rangedStages, value.stages, faults) };
}) satisfies Reader<Required<LayerRanges>>;

const placementSteps = { fixedLinear: 'fixed_linear', layerRanges: 'layer_ranges' } satisfies Steps<
  PlacementInput['placement']
>;

const placement: Reader<Chosen<PlacementInput>> = (value, faults) => {
  const set = fieldsOf<Choice>(fieldsOf<PlacementInput>(value).placement);
  switch (set.$case) {
    case 'fixedLinear':
      return {
        placement: { $case: 'fixedLinear', value: field(placementSteps.fixedLinear, fixedLinear, set.value, faults) },
      };
    case 'layerRanges':
      return {
        placement: { $case: 'layerRanges', value: field(placementSteps.layerRanges, layerRanges, set.value, faults) },
      };
    default:
      return unset(faults, placementSteps);
  }
};

const candidatePool = list(u64);

export const plannerInput = ((value, faults) => {
  if (!isMessage<PlannerInput>(value)) return unset(faults);
  return {
    runId: field('run_id', u64, value.runId, faults),
    orchestratorNodeId: field('orchestrator_node_id', u64, value.orchestratorNodeId, faults),
    model: field('model', modelFacts, value.model, faults),
    runtime: field('runtime', runtimeConfig, value.runtime, faults),
    candidatePool: field('candidate_pool', candidatePool, value.candidatePool, faults),
    stageCount: field('stage_count', u32, value.stageCount, faults),
    placement: field('placement', placement, value.placement, faults),
    activationRing: field('activation_ring', ringSpec, value.activationRing, faults),
    tokenRing: field('token_ring', ringSpec, value.tokenRing, faults),
  };
}) satisfies Reader<Required<PlannerInput>>;

export type WholePlannerInput = Whole<typeof plannerInput>;
