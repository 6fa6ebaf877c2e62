import {
  type EdgePlan,
  type GgufModelPlan,
  RingDirection,
  type RingSpec,
  type RunPlan,
  type RuntimePlan,
  type StagePlan,
} from '../../../gen/stageplane/v1/plan.js';
import type { InboundEdgeProvision, OutboundEdgeProvision } from '../../../gen/stageplane/v1/provision.js';
import { edgeEndpoint, edgeKind, objectSpec, ringSpec, type WholeEndpoint } from './read-edge.js';
import { field, isMessage, type Reader, unset, type Whole } from './read-message.js';
import { dtypeFamily, ggufSource, tokenizerSource } from './read-model.js';
import { sampling } from './read-runtime.js';
import { text, u32, u64 } from './read-scalar.js';

/**
 * Readers of the fields of a plan that a provision is made of, and no others: what a projection does not use cannot spoil
 * it. That the whole plan is sound is validateRunPlan's question.
 */
export type ProvisionReaders = ReturnType<typeof provisionReaders>;

/** Readers for one plan. What several of its places share, they read once and the provisions share. */
export function provisionReaders() {
  const spec = remembering(objectSpec);
  const ring = remembering(ringEnds);
  return {
    plan: remembering(planPart),
    stage: stagePart(remembering(ggufSource)),
    inbound: inboundEdge(spec, ring),
    outbound: outboundEdge(spec, ring),
  };
}

/** Gives the same copy for the same value again, if it is one of the last two: token edges have one spec, activations another. */
function remembering<T>(reader: Reader<T>): Reader<T> {
  let last: unknown;
  let lastCopy: T;
  let other: unknown;
  let otherCopy: T;
  return (value, faults) => {
    if (value === last && value !== undefined) return lastCopy;
    if (value === other && value !== undefined) return otherCopy;
    const before = faults.length;
    const copy = reader(value, faults);
    if (faults.length > before) return copy;
    other = last;
    otherCopy = lastCopy;
    last = value;
    lastCopy = copy;
    return copy;
  };
}

const modelPart = ((value, faults) => {
  if (!isMessage<GgufModelPlan>(value)) return unset(faults);
  return {
    facts: {
      modelId: field('model_id', text, value.modelId, faults),
      hiddenDim: field('hidden_dim', u32, value.hiddenDim, faults),
      dtypeFamily: field('dtype_family', dtypeFamily, value.dtypeFamily, faults),
      dtypeWidthBytes: field('dtype_width_bytes', u32, value.dtypeWidthBytes, faults),
      maxSeqLen: field('max_seq_len', u32, value.maxSeqLen, faults),
    },
    tokenizer: field('tokenizer', tokenizerSource, value.tokenizer, faults),
  };
}) satisfies Reader<unknown>;

const runtimePart = ((value, faults) => {
  if (!isMessage<RuntimePlan>(value)) return unset(faults);
  return { sampling: field('sampling', sampling, value.sampling, faults) };
}) satisfies Reader<unknown>;

const planPart = ((value, faults) => {
  if (!isMessage<RunPlan>(value)) return unset(faults);
  return {
    runId: field('run_id', u64, value.runId, faults),
    model: field('model', modelPart, value.model, faults),
    runtime: field('runtime', runtimePart, value.runtime, faults),
  };
}) satisfies Reader<unknown>;

function stagePart(source: Reader<Whole<typeof ggufSource>>) {
  return ((value, faults) => {
    if (!isMessage<StagePlan>(value)) return unset(faults);
    return {
      stageIndex: field('stage_index', u32, value.stageIndex, faults),
      stageCount: field('stage_count', u32, value.stageCount, faults),
      nodeId: field('node_id', u64, value.nodeId, faults),
      ggufSource: field('gguf_source', source, value.ggufSource, faults),
      layerStart: field('layer_start', u32, value.layerStart, faults),
      layerEndExclusive: field('layer_end_exclusive', u32, value.layerEndExclusive, faults),
      inboundEdge: field('inbound_edge', u64, value.inboundEdge, faults),
      outboundEdge: field('outbound_edge', u64, value.outboundEdge, faults),
    };
  }) satisfies Reader<unknown>;
}

type SpecReader = Reader<Whole<typeof objectSpec>>;
type RingReader = Reader<RingEnds>;

/** What an edge's consumer is told of it. */
function inboundEdge(spec: SpecReader, ring: RingReader): Reader<InboundEdgeProvision> {
  return (value, faults) => {
    if (!isMessage<EdgePlan>(value)) return unset(faults);
    return {
      edgeId: field('edge_id', u64, value.edgeId, faults),
      kind: field('kind', edgeKind, value.kind, faults),
      objectSpec: field('object_spec', spec, value.objectSpec, faults),
      ringSpec: field('ring_spec', ring, value.ringSpec, faults).ingress,
    };
  };
}

/** What its producer is told: also who consumes it. */
function outboundEdge(spec: SpecReader, ring: RingReader): Reader<OutboundEdgeProvision> {
  return (value, faults) => {
    if (!isMessage<EdgePlan>(value)) return unset(faults);
    return {
      edgeId: field('edge_id', u64, value.edgeId, faults),
      kind: field('kind', edgeKind, value.kind, faults),
      consumerNodeId: field('consumer', nodeOfEndpoint, value.consumer, faults),
      objectSpec: field('object_spec', spec, value.objectSpec, faults),
      ringSpec: field('ring_spec', ring, value.ringSpec, faults).egress,
    };
  };
}

const nodeOfEndpoint: Reader<bigint> = (value, faults) => {
  const whole = edgeEndpoint(value, faults) as WholeEndpoint | undefined;
  return whole?.endpoint.value?.nodeId ?? 0n;
};

/** A ring as the two ends of its edge see it. */
interface RingEnds {
  readonly ingress: RingSpec;
  readonly egress: RingSpec;
}

const ringEnds: Reader<RingEnds> = (value, faults) => {
  const ring = ringSpec(value, faults);
  return {
    ingress: { ...ring, direction: RingDirection.RING_DIRECTION_INGRESS },
    egress: { ...ring, direction: RingDirection.RING_DIRECTION_EGRESS },
  };
};
