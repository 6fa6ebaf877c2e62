import fc from 'fast-check';
import { DtypeFamily, type GgufSource } from '../../gen/stageplane/v1/model.js';
import { DeviceKind, type EngineOffer, type NodeDescriptor, StageFeature } from '../../gen/stageplane/v1/node.js';
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
  type RunPlan,
  SequencePolicy,
  type ShapeRule,
  type StagePlan,
  TokenOutputPolicy,
  WakeCoalescing,
} from '../../gen/stageplane/v1/plan.js';
import { Fidelity, KvCacheType, type StageSettings } from '../../gen/stageplane/v1/provision.js';
import { type StageFault, StageFaultReason, type StageFootprint } from '../../gen/stageplane/v1/run.js';
import { type TextAnswer, TextDoneReason } from '../../gen/stageplane/v1/token_endpoint.js';

export const text = fc.string({ unit: 'binary', maxLength: 20 });
export const uint32 = fc.nat(0xffff_ffff);
const sint32 = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
export const uint64 = fc.bigInt(0n, 2n ** 64n - 1n);

/** Any value of a generated enum, the unknown one included. */
function anyOf<T extends number>(values: object): fc.Arbitrary<T> {
  return fc.constantFrom(...(Object.values(values).filter((value) => typeof value === 'number') as T[]));
}

function maybe<T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.option(value, { nil: undefined });
}

export const ggufSource: fc.Arbitrary<GgufSource> = fc.record({
  source: fc.oneof(
    fc.constant(undefined),
    fc.record({ $case: fc.constant('localPath' as const), value: text }),
    fc.record({
      $case: fc.constant('huggingFace' as const),
      value: fc.record({ repo: text, file: text, revision: maybe(text) }),
    }),
  ),
});

const model = fc.record({
  modelId: text,
  ggufSource: maybe(ggufSource),
  numLayers: uint32,
  hiddenDim: uint32,
  dtypeFamily: anyOf<DtypeFamily>(DtypeFamily),
  dtypeWidthBytes: uint32,
  maxSeqLen: uint32,
  eosTokenId: uint32,
  tokenizer: fc.constantFrom(
    undefined,
    { source: undefined },
    { source: { $case: 'embeddedGguf' as const, value: {} } },
    { source: { $case: 'localPath' as const, value: '/tokenizer.json' } },
  ),
});

const runtime = fc.record({
  prompt: maybe(fc.record({ source: maybe(fc.record({ $case: fc.constant('inline' as const), value: text })) })),
  sampling: maybe(
    fc.record({
      temperatureMillis: uint32,
      topK: uint32,
      topPMillis: uint32,
      minPMillis: uint32,
      repeatPenaltyMillis: uint32,
      repeatLastN: uint32,
      presencePenaltyMillis: sint32,
      frequencyPenaltyMillis: sint32,
    }),
  ),
  tokenOutputPolicy: anyOf<TokenOutputPolicy>(TokenOutputPolicy),
  stop: fc.array(text, { maxLength: 2 }),
});

const stagePlan: fc.Arbitrary<StagePlan> = fc.record({
  runId: uint64,
  stageIndex: uint32,
  stageCount: uint32,
  nodeId: uint64,
  ggufSource: maybe(ggufSource),
  layerStart: uint32,
  layerEndExclusive: uint32,
  inboundEdge: uint64,
  outboundEdge: uint64,
});

const endpoint: fc.Arbitrary<EdgeEndpoint> = fc.record({
  endpoint: fc.oneof(
    fc.constant(undefined),
    fc.record({ $case: fc.constant('orchestrator' as const), value: fc.record({ nodeId: uint64 }) }),
    fc.record({ $case: fc.constant('stage' as const), value: fc.record({ nodeId: uint64, stageIndex: uint32 }) }),
  ),
});

const shape: fc.Arbitrary<ShapeRule> = fc.record({
  rule: fc.oneof(
    fc.constantFrom(
      undefined,
      { $case: 'tokenIds' as const, value: {} },
      { $case: 'weightTensor' as const, value: {} },
    ),
    fc.record({
      $case: fc.constant('activationRows' as const),
      value: fc.record({ maxSeqLen: uint32, hiddenDim: uint32 }),
    }),
  ),
});

const objectSpec: fc.Arbitrary<ObjectSpec> = fc.record({
  kind: anyOf<ObjectKind>(ObjectKind),
  maxExtent: uint64,
  dtypeFamily: anyOf<DtypeFamily>(DtypeFamily),
  dtypeWidthBytes: uint32,
  shape: maybe(shape),
  layout: anyOf<LayoutRule>(LayoutRule),
  alignment: uint32,
  sequencePolicy: anyOf<SequencePolicy>(SequencePolicy),
});

const ringSpec: fc.Arbitrary<RingSpec> = fc.record({
  dataCapacity: uint64,
  alignment: uint32,
  direction: anyOf<RingDirection>(RingDirection),
  hostPinning: anyOf<HostPinning>(HostPinning),
  wakeCoalescing: anyOf<WakeCoalescing>(WakeCoalescing),
});

const edgePlan: fc.Arbitrary<EdgePlan> = fc.record({
  runId: uint64,
  edgeId: uint64,
  kind: anyOf<EdgeKind>(EdgeKind),
  producer: maybe(endpoint),
  consumer: maybe(endpoint),
  objectSpec: maybe(objectSpec),
  ringSpec: maybe(ringSpec),
});

export const runPlan: fc.Arbitrary<RunPlan> = fc.record({
  runId: uint64,
  model: maybe(model),
  runtime: maybe(runtime),
  stages: fc.array(stagePlan, { maxLength: 3 }),
  edges: fc.array(edgePlan, { maxLength: 3 }),
  maxTokens: uint32,
});

export const stageSettings: fc.Arbitrary<StageSettings> = fc.record({
  engine: text,
  device: text,
  totalLayers: uint32,
  contextLength: uint32,
  kvCacheType: anyOf<KvCacheType>(KvCacheType),
  microBatch: uint32,
  flashAttention: fc.boolean(),
  threads: uint32,
  sessions: uint32,
  seed: uint64,
  modelDigest: text,
  expectedBytes: uint64,
  fidelity: anyOf<Fidelity>(Fidelity),
  reservedBytes: uint64,
});

export const stageFault: fc.Arbitrary<StageFault> = fc.record({
  reason: anyOf<StageFaultReason>(StageFaultReason),
  message: text,
  logTail: fc.array(text, { maxLength: 3 }),
});

export const stageFootprint: fc.Arbitrary<StageFootprint> = fc.record({
  bytesRead: uint64,
  bytesDigest: text,
  deviceBytes: uint64,
  hostBytes: uint64,
});

export const textAnswer: fc.Arbitrary<TextAnswer> = fc.record({
  text,
  tokenIds: fc.array(uint32, { maxLength: 5 }),
  done: maybe(
    fc.record({
      requestId: text,
      reason: anyOf<TextDoneReason>(TextDoneReason),
      message: text,
      promptTokens: uint32,
      reusedTokens: uint32,
      generatedTokens: uint32,
      firstTokenMicros: uint64,
      tokensPerSecondMillis: uint64,
    }),
  ),
});

export const nodeDescriptor: fc.Arbitrary<NodeDescriptor> = fc.record({
  machine: text,
  operatingSystem: text,
  architecture: text,
  physicalCores: uint32,
  agentVersion: text,
  devices: fc.array(
    fc.record({
      deviceId: text,
      kind: anyOf<DeviceKind>(DeviceKind),
      name: text,
      totalBytes: uint64,
      freeBytes: uint64,
    }),
    { maxLength: 2 },
  ),
  labels: fc.dictionary(text, text, { maxKeys: 3, noNullPrototype: true }),
});

export const engineOffer: fc.Arbitrary<EngineOffer> = fc.record({
  name: text,
  build: text,
  deviceIds: fc.array(text, { maxLength: 2 }),
  features: fc.array(anyOf<StageFeature>(StageFeature), { maxLength: 2 }),
});
