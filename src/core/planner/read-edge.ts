import {
  type EdgeEndpoint,
  EdgeKind,
  type EdgePlan,
  HostPinning,
  LayoutRule,
  ObjectKind,
  type ObjectSpec,
  RingDirection,
  type RingSpec,
  SequencePolicy,
  type ShapeRule,
  WakeCoalescing,
} from '../../../gen/stageplane/v1/plan.js';
import {
  type Choice,
  type Chosen,
  empty,
  field,
  fieldsOf,
  isMessage,
  type Reader,
  type Steps,
  unset,
  type Whole,
} from './read-message.js';
import { dtypeFamily } from './read-model.js';
import { enumValue, u32, u64 } from './read-scalar.js';

const direction = enumValue(RingDirection);
const hostPinning = enumValue(HostPinning);
const wakeCoalescing = enumValue(WakeCoalescing);

export const ringSpec = ((value, faults) => {
  if (!isMessage<RingSpec>(value)) return unset(faults);
  return {
    dataCapacity: field('data_capacity', u64, value.dataCapacity, faults),
    alignment: field('alignment', u32, value.alignment, faults),
    direction: field('direction', direction, value.direction, faults),
    hostPinning: field('host_pinning', hostPinning, value.hostPinning, faults),
    wakeCoalescing: field('wake_coalescing', wakeCoalescing, value.wakeCoalescing, faults),
  };
}) satisfies Reader<Required<RingSpec>>;

type Rows = Extract<NonNullable<ShapeRule['rule']>, { $case: 'activationRows' }>['value'];

const activationRows = ((value, faults) => {
  if (!isMessage<Rows>(value)) return unset(faults);
  return {
    maxSeqLen: field('max_seq_len', u32, value.maxSeqLen, faults),
    hiddenDim: field('hidden_dim', u32, value.hiddenDim, faults),
  };
}) satisfies Reader<Required<Rows>>;

const shapeRuleSteps = {
  tokenIds: 'token_ids',
  activationRows: 'activation_rows',
  weightTensor: 'weight_tensor',
  modelShardBytes: 'model_shard_bytes',
} satisfies Steps<ShapeRule['rule']>;

const shapeRule: Reader<Chosen<ShapeRule>> = (value, faults) => {
  const set = fieldsOf<Choice>(fieldsOf<ShapeRule>(value).rule);
  switch (set.$case) {
    case 'tokenIds':
      return { rule: { $case: 'tokenIds', value: field(shapeRuleSteps.tokenIds, empty, set.value, faults) } };
    case 'activationRows':
      return {
        rule: {
          $case: 'activationRows',
          value: field(shapeRuleSteps.activationRows, activationRows, set.value, faults),
        },
      };
    case 'weightTensor':
      return { rule: { $case: 'weightTensor', value: field(shapeRuleSteps.weightTensor, empty, set.value, faults) } };
    case 'modelShardBytes':
      return {
        rule: { $case: 'modelShardBytes', value: field(shapeRuleSteps.modelShardBytes, empty, set.value, faults) },
      };
    default:
      return unset(faults, shapeRuleSteps);
  }
};

const objectKind = enumValue(ObjectKind);
const layout = enumValue(LayoutRule);
const sequencePolicy = enumValue(SequencePolicy);

export const objectSpec = ((value, faults) => {
  if (!isMessage<ObjectSpec>(value)) return unset(faults);
  return {
    kind: field('kind', objectKind, value.kind, faults),
    maxExtent: field('max_extent', u64, value.maxExtent, faults),
    dtypeFamily: field('dtype_family', dtypeFamily, value.dtypeFamily, faults),
    dtypeWidthBytes: field('dtype_width_bytes', u32, value.dtypeWidthBytes, faults),
    shape: field('shape', shapeRule, value.shape, faults),
    layout: field('layout', layout, value.layout, faults),
    alignment: field('alignment', u32, value.alignment, faults),
    sequencePolicy: field('sequence_policy', sequencePolicy, value.sequencePolicy, faults),
  };
}) satisfies Reader<Required<ObjectSpec>>;

type Endpoint = NonNullable<EdgeEndpoint['endpoint']>;
type OrchestratorEnd = Extract<Endpoint, { $case: 'orchestrator' }>['value'];
type StageEnd = Extract<Endpoint, { $case: 'stage' }>['value'];

const orchestratorEnd = ((value, faults) => {
  if (!isMessage<OrchestratorEnd>(value)) return unset(faults);
  return { nodeId: field('node_id', u64, value.nodeId, faults) };
}) satisfies Reader<Required<OrchestratorEnd>>;

const stageEnd = ((value, faults) => {
  if (!isMessage<StageEnd>(value)) return unset(faults);
  return {
    nodeId: field('node_id', u64, value.nodeId, faults),
    stageIndex: field('stage_index', u32, value.stageIndex, faults),
  };
}) satisfies Reader<Required<StageEnd>>;

export type WholeEndpoint = Chosen<EdgeEndpoint>;

const edgeEndpointSteps = { orchestrator: 'orchestrator', stage: 'stage' } satisfies Steps<EdgeEndpoint['endpoint']>;

export const edgeEndpoint: Reader<WholeEndpoint> = (value, faults) => {
  const set = fieldsOf<Choice>(fieldsOf<EdgeEndpoint>(value).endpoint);
  switch (set.$case) {
    case 'orchestrator':
      return {
        endpoint: {
          $case: 'orchestrator',
          value: field(edgeEndpointSteps.orchestrator, orchestratorEnd, set.value, faults),
        },
      };
    case 'stage':
      return { endpoint: { $case: 'stage', value: field(edgeEndpointSteps.stage, stageEnd, set.value, faults) } };
    default:
      return unset(faults, edgeEndpointSteps);
  }
};

export const edgeKind = enumValue(EdgeKind);

export const edgePlan = ((value, faults) => {
  if (!isMessage<EdgePlan>(value)) return unset(faults);
  return {
    runId: field('run_id', u64, value.runId, faults),
    edgeId: field('edge_id', u64, value.edgeId, faults),
    kind: field('kind', edgeKind, value.kind, faults),
    producer: field('producer', edgeEndpoint, value.producer, faults),
    consumer: field('consumer', edgeEndpoint, value.consumer, faults),
    objectSpec: field('object_spec', objectSpec, value.objectSpec, faults),
    ringSpec: field('ring_spec', ringSpec, value.ringSpec, faults),
  };
}) satisfies Reader<Required<EdgePlan>>;

export type WholeObjectSpec = Whole<typeof objectSpec>;
export type WholeRingSpec = Whole<typeof ringSpec>;
