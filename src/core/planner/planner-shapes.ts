import type { GgufSource, ModelFacts, TokenizerSource } from '../../../gen/stageplane/v1/model.js';
import { DtypeFamily } from '../../../gen/stageplane/v1/model.js';
import type { EdgeEndpoint, PromptSource, RunPlan, ShapeRule } from '../../../gen/stageplane/v1/plan.js';
import {
  EdgeKind,
  HostPinning,
  LayoutRule,
  ObjectKind,
  RingDirection,
  SequencePolicy,
  TokenOutputPolicy,
  WakeCoalescing,
} from '../../../gen/stageplane/v1/plan.js';
import type { PlacementInput, PlannerInput } from '../../../gen/stageplane/v1/planner.js';
import {
  choice,
  enumValue,
  list,
  message,
  optional,
  type Reader,
  text,
  u32,
  u64,
  type Whole,
} from './message-shape.js';

/** The messages that the planner reads, field by field. `satisfies` fails the build when the proto gains a field. */

const empty = message({});

export const ggufSource = choice<'source', NonNullable<GgufSource['source']>>('source', {
  localPath: text,
  huggingFace: message({ repo: text, file: text, revision: optional(text) }),
});

export const tokenizerSource = choice<'source', NonNullable<TokenizerSource['source']>>('source', {
  embeddedGguf: empty,
  localPath: text,
});

const promptSource = choice<'source', NonNullable<PromptSource['source']>>('source', {
  inline: text,
  userMessage: text,
});

export const sampling = message({ temperatureMillis: u32, topK: u32 });

export const ringSpec = message({
  dataCapacity: u64,
  alignment: u32,
  direction: enumValue(RingDirection),
  hostPinning: enumValue(HostPinning),
  wakeCoalescing: enumValue(WakeCoalescing),
});

export const objectSpec = message({
  kind: enumValue(ObjectKind),
  maxExtent: u64,
  dtypeFamily: enumValue(DtypeFamily),
  dtypeWidthBytes: u32,
  shape: choice<'rule', NonNullable<ShapeRule['rule']>>('rule', {
    tokenIds: empty,
    activationRows: message({ maxSeqLen: u32, hiddenDim: u32 }),
    weightTensor: empty,
    modelShardBytes: empty,
  }),
  layout: enumValue(LayoutRule),
  alignment: u32,
  sequencePolicy: enumValue(SequencePolicy),
});

export const edgeEndpoint = choice<'endpoint', NonNullable<EdgeEndpoint['endpoint']>>('endpoint', {
  orchestrator: message({ nodeId: u64 }),
  stage: message({ nodeId: u64, stageIndex: u32 }),
});

const modelFacts = message({
  modelId: text,
  ggufSource,
  numLayers: u32,
  hiddenDim: u64,
  dtypeFamily: enumValue(DtypeFamily),
  dtypeWidthBytes: u64,
  maxSeqLen: u64,
  eosTokenId: u32,
  tokenizer: tokenizerSource,
}) satisfies Reader<Required<ModelFacts>>;

const placement = choice<'placement', NonNullable<PlacementInput['placement']>>('placement', {
  fixedLinear: message({
    stages: list(message({ stageIndex: u32, nodeId: u64 })),
    activationEdges: list(message({ producerStage: u32, consumerStage: u32 })),
  }),
  layerRanges: message({
    stages: list(
      message({
        stageIndex: u32,
        nodeId: u64,
        layerStart: u32,
        layerEndExclusive: u32,
      }),
    ),
  }),
});

export const plannerInput = message({
  runId: u64,
  orchestratorNodeId: u64,
  model: modelFacts,
  runtime: message({
    maxTokens: u32,
    prompt: promptSource,
    sampling,
    tokenOutputPolicy: enumValue(TokenOutputPolicy),
  }),
  candidatePool: list(u64),
  stageCount: u32,
  placement,
  activationRing: ringSpec,
  tokenRing: ringSpec,
}) satisfies Reader<Required<PlannerInput>>;

const stagePlan = message({
  runId: u64,
  stageIndex: u32,
  stageCount: u32,
  nodeId: u64,
  ggufSource,
  layerStart: u32,
  layerEndExclusive: u32,
  inboundEdge: u64,
  outboundEdge: u64,
});

const edgePlan = message({
  runId: u64,
  edgeId: u64,
  kind: enumValue(EdgeKind),
  producer: edgeEndpoint,
  consumer: edgeEndpoint,
  objectSpec,
  ringSpec,
});

export const runPlan = message({
  runId: u64,
  model: message({
    modelId: text,
    ggufSource,
    numLayers: u32,
    hiddenDim: u32,
    dtypeFamily: enumValue(DtypeFamily),
    dtypeWidthBytes: u32,
    maxSeqLen: u32,
    eosTokenId: u32,
    tokenizer: tokenizerSource,
  }),
  runtime: message({
    prompt: promptSource,
    sampling,
    tokenOutputPolicy: enumValue(TokenOutputPolicy),
  }),
  stages: list(stagePlan),
  edges: list(edgePlan),
  maxTokens: u32,
}) satisfies Reader<Required<RunPlan>>;

export type WholePlannerInput = Whole<typeof plannerInput>;
export type WholeRunPlan = Whole<typeof runPlan>;
export type WholeObjectSpec = Whole<typeof objectSpec>;
export type WholeEndpoint = Whole<typeof edgeEndpoint>;
