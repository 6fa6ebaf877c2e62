import { PlanRejectionKind as Kind } from '../../../gen/stageplane/v1/rejection.js';
import type { FaultOf, PlanFault } from './plan-fault.js';
import type { WholeEndpoint } from './read-edge.js';

/** The kind of rejection that a fault leads to. */
export function rejectionKindOf(fault: PlanFault): Kind {
  return table[fault.kind].rejects;
}

/** One sentence that names the thing and says what to do next. The only place where such a sentence is built. */
export function describeFault(fault: PlanFault): string {
  const row = table[fault.kind] as { say: (fault: PlanFault) => string };
  return row.say(fault);
}

type Table = {
  [K in PlanFault['kind']]: {
    rejects: Kind;
    say: (fault: FaultOf<K>) => string;
  };
};

const table: Table = {
  unreadable: {
    rejects: Kind.PLAN_REJECTION_KIND_MALFORMED_INPUT,
    say: () => 'the message throws when it is read: give a plain message object',
  },
  unset: {
    rejects: Kind.PLAN_REJECTION_KIND_MALFORMED_INPUT,
    say: ({ field, choices }) => `${name(field)} is unset: set ${choices ? choices.join(' or ') : 'it'}`,
  },
  'not-a-value': {
    rejects: Kind.PLAN_REJECTION_KIND_MALFORMED_INPUT,
    say: ({ field, got, expected }) => `${name(field)} is ${got}: give ${expected}`,
  },
  'unknown-enum-value': {
    rejects: Kind.PLAN_REJECTION_KIND_MALFORMED_INPUT,
    say: ({ field, got, known }) => `${field} is ${got}, which is no known value: set ${known.join(' or ')}`,
  },

  'no-stages': {
    rejects: Kind.PLAN_REJECTION_KIND_INVALID_STAGE_COUNT,
    say: ({ field }) => `the run has no stages: ask for at least one in ${field}`,
  },
  'fewer-layers-than-stages': {
    rejects: Kind.PLAN_REJECTION_KIND_MODEL_STAGE_LAYOUT_MISMATCH,
    say: ({ numLayers, stageCount }) =>
      `the model has ${numLayers} layers, too few for ${stageCount} stages: ` +
      (numLayers === 0 ? 'give a model with layers' : `ask for at most ${numLayers} stages`),
  },
  'zero-size': {
    rejects: Kind.PLAN_REJECTION_KIND_INVALID_OBJECT_SPEC,
    say: ({ field }) => `${field} is 0: give at least 1`,
  },
  'zero-hidden-dim': {
    rejects: Kind.PLAN_REJECTION_KIND_UNSUPPORTED_SHAPE_OR_LAYOUT,
    say: ({ field }) => `${field} is 0: give the width of one activation row, at least 1`,
  },
  'hidden-dim-too-large': {
    rejects: Kind.PLAN_REJECTION_KIND_UNSUPPORTED_SHAPE_OR_LAYOUT,
    say: ({ field, hiddenDim }) => `${field} is ${hiddenDim}, more than a shape can say: give at most 4294967295`,
  },
  'size-too-large': {
    rejects: Kind.PLAN_REJECTION_KIND_INVALID_OBJECT_SPEC,
    say: ({ field, size }) => `${field} is ${size}, more than an object spec can say: give at most 4294967295`,
  },
  'extent-too-large': {
    rejects: Kind.PLAN_REJECTION_KIND_INVALID_OBJECT_SPEC,
    say: ({ extent }) =>
      `one activation object would take ${extent} bytes, more than 2^64-1: ` +
      'lower max_seq_len, hidden_dim or dtype_width_bytes',
  },
  'ring-without-capacity': {
    rejects: Kind.PLAN_REJECTION_KIND_INVALID_RING_SPEC,
    say: ({ field }) => `${field} is 0: give the ring at least 1 byte`,
  },
  'ring-alignment': {
    rejects: Kind.PLAN_REJECTION_KIND_INVALID_RING_SPEC,
    say: ({ field, alignment }) => `${field} is ${alignment}, which is no power of two: give 1, 2, 4, ...`,
  },

  'unknown-node': {
    rejects: Kind.PLAN_REJECTION_KIND_UNKNOWN_NODE,
    say: ({ stageIndex, nodeId }) =>
      `stage ${stageIndex} is placed on node ${nodeId}, which is not in the candidate pool: ` +
      'place it on a node of the pool, or add the node',
  },
  'duplicate-stage': {
    rejects: Kind.PLAN_REJECTION_KIND_DUPLICATE_STAGE_ASSIGNMENT,
    say: ({ stageIndex, first }) => `stage ${stageIndex} is already placed by ${first}: remove one of the two`,
  },
  'missing-stage': {
    rejects: Kind.PLAN_REJECTION_KIND_MISSING_STAGE,
    say: ({ field, stageIndex, stageCount }) =>
      `stage ${stageIndex} of 0..${stageCount - 1} has no placement: add it to ${field}, or lower stage_count`,
  },
  'empty-range': {
    rejects: Kind.PLAN_REJECTION_KIND_MODEL_STAGE_LAYOUT_MISMATCH,
    say: ({ stageIndex, start, endExclusive }) =>
      `stage ${stageIndex} has no layers in [${start}, ${endExclusive}): end it after its first layer`,
  },
  'range-gap': {
    rejects: Kind.PLAN_REJECTION_KIND_MODEL_STAGE_LAYOUT_MISMATCH,
    say: ({ stageIndex, start, expected }) =>
      `stage ${stageIndex} starts at layer ${start} and leaves out ${layers(expected, start)}: start it at ${expected}`,
  },
  'range-overlap': {
    rejects: Kind.PLAN_REJECTION_KIND_MODEL_STAGE_LAYOUT_MISMATCH,
    say: ({ stageIndex, start, expected }) =>
      `stage ${stageIndex} starts at layer ${start}, but earlier stages reach up to ${expected}: start it at ${expected}`,
  },
  'range-end': {
    rejects: Kind.PLAN_REJECTION_KIND_MODEL_STAGE_LAYOUT_MISMATCH,
    say: ({ stageIndex, endExclusive, numLayers }) =>
      `stage ${stageIndex} is the last and ends at layer ${endExclusive}, but the model has ${numLayers}: ` +
      `end it at ${numLayers}`,
  },
  'activation-edge-differs': {
    rejects: Kind.PLAN_REJECTION_KIND_EDGE_ENDPOINT_MISMATCH,
    say: ({ position, producer, consumer }) =>
      `activation edge ${position} goes from stage ${producer} to stage ${consumer}: it must go from stage ` +
      `${position} to stage ${position + 1}; correct it, or leave activation_edges empty`,
  },
  'activation-edge-count': {
    rejects: Kind.PLAN_REJECTION_KIND_EDGE_ENDPOINT_MISMATCH,
    say: ({ got, expected }) =>
      `the number of activation edges is ${got}, but must be ${expected}: ` +
      'list exactly those between the stages, or leave activation_edges empty',
  },

  'run-id-differs': {
    rejects: Kind.PLAN_REJECTION_KIND_MALFORMED_INPUT,
    say: ({ field, got, expected }) => `${field} is ${got}, but the plan is of run ${expected}: make them equal`,
  },
  'stage-count-differs': {
    rejects: Kind.PLAN_REJECTION_KIND_INVALID_STAGE_COUNT,
    say: ({ field, got, expected }) => `${field} is ${got}, but the plan has ${expected} stages: make them equal`,
  },
  'stage-out-of-order': {
    rejects: Kind.PLAN_REJECTION_KIND_MISSING_STAGE,
    say: ({ got, expected }) =>
      `stage ${expected} is not in its place, where stage ${got} is: list the stages from 0 on, in order`,
  },
  'gguf-source-differs': {
    rejects: Kind.PLAN_REJECTION_KIND_MODEL_STAGE_LAYOUT_MISMATCH,
    say: ({ stageIndex }) => `stage ${stageIndex} reads another GGUF file than model.gguf_source: make them equal`,
  },
  'edge-count-differs': {
    rejects: Kind.PLAN_REJECTION_KIND_EDGE_ENDPOINT_MISMATCH,
    say: ({ got, expected }) => `the plan has ${got} edges, but its stages need ${expected}: one more than stages`,
  },
  'edge-id-differs': {
    rejects: Kind.PLAN_REJECTION_KIND_EDGE_ENDPOINT_MISMATCH,
    say: ({ field, got, expected }) => `${field} is ${got}: edges count from 1 in order, so make it ${expected}`,
  },
  'edge-kind-differs': {
    rejects: Kind.PLAN_REJECTION_KIND_EDGE_ENDPOINT_MISMATCH,
    say: ({ edgeId, got, expected }) =>
      `edge ${edgeId} is ${got}, but in this place it must be ${expected}: correct it`,
  },
  'stage-edge-differs': {
    rejects: Kind.PLAN_REJECTION_KIND_EDGE_ENDPOINT_MISMATCH,
    say: ({ field, stageIndex, got, expected }) =>
      `${field} is edge ${got}, but the edge of stage ${stageIndex} there is ${expected}: correct it`,
  },
  'endpoint-differs': {
    rejects: Kind.PLAN_REJECTION_KIND_EDGE_ENDPOINT_MISMATCH,
    say: ({ field, edgeId, got, expected }) =>
      `edge ${edgeId} has ${endpoint(got)} as its ${field.endsWith('producer') ? 'producer' : 'consumer'}: ` +
      `it must be ${endpoint(expected)}`,
  },
  'object-spec-differs': {
    rejects: Kind.PLAN_REJECTION_KIND_INVALID_OBJECT_SPEC,
    say: ({ field, edgeId, got, expected }) =>
      `${field} is ${got}, but the model makes it ${expected} on edge ${edgeId}: correct it`,
  },
  'shape-differs': {
    rejects: Kind.PLAN_REJECTION_KIND_UNSUPPORTED_SHAPE_OR_LAYOUT,
    say: ({ edgeId, got, expected }) =>
      `edge ${edgeId} has the shape ${got}: the model makes it ${expected}; correct it`,
  },
  'token-ring-too-small': {
    rejects: Kind.PLAN_REJECTION_KIND_INVALID_RING_SPEC,
    say: ({ edgeId, capacity, floor }) =>
      `the token ring of edge ${edgeId} holds ${capacity} bytes: raise it to ${floor}, the longest prompt and its header`,
  },
};

function name(field: string): string {
  return field === '' ? 'the message' : field;
}

/** The layers `[start, endExclusive)` in words. */
function layers(start: number, endExclusive: number): string {
  return endExclusive - start === 1 ? `layer ${start}` : `layers ${start} to ${endExclusive - 1}`;
}

function endpoint({ endpoint }: WholeEndpoint): string {
  return endpoint.$case === 'orchestrator'
    ? `the orchestrator, node ${endpoint.value.nodeId},`
    : `stage ${endpoint.value.stageIndex} on node ${endpoint.value.nodeId}`;
}
