import fc from 'fast-check';
import { DtypeFamily, type GgufSource } from '../../../gen/stageplane/v1/model.js';
import {
  HostPinning,
  RingDirection,
  type RingSpec,
  RunPlan,
  SamplingPolicy,
  TokenOutputPolicy,
  WakeCoalescing,
} from '../../../gen/stageplane/v1/plan.js';
import type { PlacementInput, PlannerInput } from '../../../gen/stageplane/v1/planner.js';
import { planRun } from '../../../src/core/planner/plan-run.js';

/** Three stages on nodes 2, 3 and 4, ten layers. Fresh at each call, so a test may change it. */
export function sampleInput(changes: Partial<PlannerInput> = {}): PlannerInput {
  return {
    runId: 7n,
    orchestratorNodeId: 1n,
    model: {
      modelId: 'tiny',
      ggufSource: {
        source: { $case: 'huggingFace', value: { repo: 'owner/tiny', file: 'tiny.gguf', revision: 'main' } },
      },
      numLayers: 10,
      hiddenDim: 64n,
      dtypeFamily: DtypeFamily.DTYPE_FAMILY_FLOAT,
      dtypeWidthBytes: 4n,
      maxSeqLen: 128n,
      eosTokenId: 2,
      tokenizer: { source: { $case: 'embeddedGguf', value: {} } },
    },
    runtime: {
      maxTokens: 16,
      prompt: { source: { $case: 'inline', value: 'hello' } },
      sampling: SamplingPolicy.create({ temperatureMillis: 700, topK: 40 }),
      tokenOutputPolicy: TokenOutputPolicy.TOKEN_OUTPUT_POLICY_EMIT_ALL,
      stop: [],
    },
    candidatePool: [2n, 3n, 4n],
    stageCount: 3,
    placement: fixedLinear([0, 2n], [1, 3n], [2, 4n]),
    activationRing: sampleRing(65_536n),
    tokenRing: sampleRing(64n),
    ...changes,
  };
}

export function fixedLinear(...stages: [stageIndex: number, nodeId: bigint][]): PlacementInput {
  const placed = stages.map(([stageIndex, nodeId]) => ({ stageIndex, nodeId }));
  return { placement: { $case: 'fixedLinear', value: { stages: placed, activationEdges: [] } } };
}

export function layerRanges(
  ...stages: [stageIndex: number, nodeId: bigint, start: number, endExclusive: number][]
): PlacementInput {
  const placed = stages.map(([stageIndex, nodeId, layerStart, layerEndExclusive]) => {
    return { stageIndex, nodeId, layerStart, layerEndExclusive };
  });
  return { placement: { $case: 'layerRanges', value: { stages: placed } } };
}

export function sampleRing(dataCapacity: bigint, alignment = 64): RingSpec {
  return {
    dataCapacity,
    alignment,
    direction: RingDirection.RING_DIRECTION_EGRESS,
    hostPinning: HostPinning.HOST_PINNING_PAGEABLE,
    wakeCoalescing: WakeCoalescing.WAKE_COALESCING_PENDING_BIT,
  };
}

/** The plan of an input that is known to have one. */
export function planOf(input: PlannerInput): RunPlan {
  const outcome = planRun(input);
  if (outcome.kind === 'rejected') throw new Error(outcome.rejection.message);
  return outcome.plan;
}

/** The same, to be changed: a plan as it comes shares what it says alike in several places. */
export function planToChange(input: PlannerInput): RunPlan {
  return RunPlan.fromPartial(planOf(input));
}

/** `stageCount` stages of one layer each, all on node 2. */
export function wideInput(stageCount: number): PlannerInput {
  const input = sampleInput({ stageCount });
  const stages = Array.from({ length: stageCount }, (_, i): [number, bigint] => [i, 2n]);
  return { ...input, model: { ...input.model!, numLayers: stageCount }, placement: fixedLinear(...stages) };
}

const ggufSource: fc.Arbitrary<GgufSource> = fc.oneof(
  fc.string().map((value): GgufSource => ({ source: { $case: 'localPath', value } })),
  fc
    .record({ repo: fc.string(), file: fc.string(), revision: fc.option(fc.string(), { nil: undefined }) })
    .map((value): GgufSource => ({ source: { $case: 'huggingFace', value } })),
);

const nodeIds = fc.uniqueArray(fc.bigInt(0n, 2n ** 64n - 1n), { minLength: 1, maxLength: 6 });

/** Inputs that have a plan, with both kinds of placement, in any order. */
export const plannableInput: fc.Arbitrary<PlannerInput> = fc
  .record({
    stageCount: fc.integer({ min: 1, max: 12 }),
    extraLayers: fc.integer({ min: 0, max: 60 }),
    hiddenDim: fc.bigInt(1n, 8192n),
    dtypeWidthBytes: fc.bigInt(1n, 8n),
    maxSeqLen: fc.bigInt(1n, 4096n),
    source: ggufSource,
    pool: nodeIds,
    capacity: fc.bigInt(1n, 2n ** 64n - 1n),
    alignment: fc.integer({ min: 0, max: 31 }).map((bits) => 2 ** bits),
    explicit: fc.boolean(),
    withEdges: fc.boolean(),
    seed: fc.nat(),
  })
  .map((shape) => {
    const input = sampleInput({ stageCount: shape.stageCount, candidatePool: shape.pool });
    const numLayers = shape.stageCount + shape.extraLayers;
    const { hiddenDim, dtypeWidthBytes, maxSeqLen } = shape;
    return {
      ...input,
      model: { ...input.model!, ggufSource: shape.source, numLayers, hiddenDim, dtypeWidthBytes, maxSeqLen },
      placement: placementOf(shape, numLayers),
      activationRing: sampleRing(shape.capacity, shape.alignment),
      tokenRing: sampleRing(shape.capacity, shape.alignment),
    };
  });

function placementOf(
  shape: { stageCount: number; pool: bigint[]; explicit: boolean; withEdges: boolean; seed: number },
  numLayers: number,
): PlacementInput {
  const { stageCount, pool, seed } = shape;
  const turned = Array.from({ length: stageCount }, (_, i) => (i + seed) % stageCount);
  const nodeOf = (stageIndex: number) => pool[(stageIndex * 7 + seed) % pool.length]!;
  if (shape.explicit) {
    // One layer each, the last one takes the rest.
    const end = (stageIndex: number) => (stageIndex === stageCount - 1 ? numLayers : stageIndex + 1);
    return layerRanges(...turned.map((i): [number, bigint, number, number] => [i, nodeOf(i), i, end(i)]));
  }
  const edges = Array.from({ length: stageCount - 1 }, (_, i) => ({ producerStage: i, consumerStage: i + 1 }));
  const stages = turned.map((stageIndex) => ({ stageIndex, nodeId: nodeOf(stageIndex) }));
  return { placement: { $case: 'fixedLinear', value: { stages, activationEdges: shape.withEdges ? edges : [] } } };
}
