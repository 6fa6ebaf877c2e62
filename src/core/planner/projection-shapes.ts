import { DtypeFamily } from '../../../gen/stageplane/v1/model.js';
import { EdgeKind } from '../../../gen/stageplane/v1/plan.js';
import { enumValue, message, text, u32, u64, type Whole } from './message-shape.js';
import { edgeEndpoint, ggufSource, objectSpec, ringSpec, sampling, tokenizerSource } from './planner-shapes.js';

/**
 * The fields of a plan that a provision is made of, and no others: what a projection does not use cannot spoil it. That the
 * whole plan is sound is validateRunPlan's question.
 */

export const planPart = message({
  runId: u64,
  model: message({
    modelId: text,
    hiddenDim: u32,
    dtypeFamily: enumValue(DtypeFamily),
    dtypeWidthBytes: u32,
    maxSeqLen: u32,
    tokenizer: tokenizerSource,
  }),
  runtime: message({ sampling }),
});

export const stagePart = message({
  stageIndex: u32,
  stageCount: u32,
  nodeId: u64,
  ggufSource,
  layerStart: u32,
  layerEndExclusive: u32,
  inboundEdge: u64,
  outboundEdge: u64,
});

/** What both ends of an edge are told. */
export const edgePart = message({ edgeId: u64, kind: enumValue(EdgeKind), objectSpec, ringSpec });

/** What its producer is told beside that. */
export const consumerPart = message({ consumer: edgeEndpoint });

/** All that its producer is told, in the order in which faults are looked for. */
export const outboundPart = message({
  edgeId: u64,
  kind: enumValue(EdgeKind),
  consumer: edgeEndpoint,
  objectSpec,
  ringSpec,
});

/** Everything that one provision is made of. */
export interface ProvisionParts {
  readonly plan: Whole<typeof planPart>;
  readonly stage: Whole<typeof stagePart>;
  readonly inbound: Whole<typeof edgePart>;
  readonly outbound: Whole<typeof edgePart>;
  readonly consumer: Whole<typeof edgeEndpoint>;
}
