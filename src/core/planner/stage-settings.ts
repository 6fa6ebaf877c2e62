import type { LayerTable, ModelFacts, ModelInspection } from '../../../gen/stageplane/v1/model.js';
import type { RunPlan } from '../../../gen/stageplane/v1/plan.js';
import { Fidelity, KvCacheType, type StageSettings } from '../../../gen/stageplane/v1/provision.js';
import { limits } from '../limits.js';
import { isThreaded } from './engine-traits.js';

/**
 * A request's settings with every default filled in. The plan and the worker see the same ones: one source of truth. The
 * threads of an engine that computes with them stay 0 when nobody asked: a share of each node, see `shareThreads`.
 */
export function resolveSettings(
  asked: StageSettings | undefined,
  facts: ModelFacts,
  inspection: ModelInspection | undefined,
): StageSettings {
  const engine = asked?.engine || 'fixture';
  return {
    engine,
    device: asked?.device || 'cpu',
    totalLayers: facts.numLayers,
    contextLength: Number(asked?.contextLength || minimum(BigInt(limits.defaultContextTokens), facts.maxSeqLen)),
    kvCacheType: asked?.kvCacheType || KvCacheType.KV_CACHE_TYPE_F16,
    microBatch: asked?.microBatch || limits.defaultMicroBatchRows,
    flashAttention: asked?.flashAttention ?? false,
    threads: asked?.threads || (isThreaded(engine) ? 0 : 1),
    sessions: asked?.sessions || 1,
    seed: asked?.seed ?? 0n,
    modelDigest: inspection?.digest ?? asked?.modelDigest ?? '',
    expectedBytes: 0n,
    fidelity: asked?.fidelity || Fidelity.FIDELITY_FAST,
    reservedBytes: 0n,
  };
}

/** The settings of each stage of a plan: the run's, its own threads, what is reserved for it, and what it reads. */
export function settingsOfStages(
  plan: RunPlan,
  settings: StageSettings,
  threads: readonly number[],
  reserved: readonly bigint[],
  layers: LayerTable | undefined,
): StageSettings[] {
  const before = layers && prefixSums(layers);
  return plan.stages.map((stage) => ({
    ...settings,
    threads: threads[stage.stageIndex]!,
    reservedBytes: reserved[stage.stageIndex]!,
    expectedBytes:
      layers && before
        ? before[stage.layerEndExclusive]! - before[stage.layerStart]! + bytesBesideLayers(layers, stage)
        : 0n,
  }));
}

function bytesBesideLayers(layers: LayerTable, stage: RunPlan['stages'][number]): bigint {
  const isFirst = stage.stageIndex === 0;
  const isLast = stage.stageIndex === stage.stageCount - 1;
  // A tied head is the embedding again; a stage that is both first and last holds it once.
  const embedding = isFirst || (isLast && layers.tied) ? layers.embeddingBytes : 0n;
  return layers.globalBytes + embedding + (isLast ? layers.headBytes : 0n);
}

function prefixSums(layers: LayerTable): bigint[] {
  const sums = [0n];
  for (const layer of layers.layers) sums.push(sums.at(-1)! + layer.sizeBytes);
  return sums;
}

function minimum(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
