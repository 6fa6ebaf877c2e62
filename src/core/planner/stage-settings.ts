import type { LayerTable, ModelFacts, ModelInspection } from '../../../gen/stageplane/v1/model.js';
import type { RunPlan } from '../../../gen/stageplane/v1/plan.js';
import { Fidelity, KvCacheType, type StageSettings } from '../../../gen/stageplane/v1/provision.js';
import { limits } from '../limits.js';

/** A request's settings with every default filled in. The plan and the worker see the same ones: one source of truth. */
export function resolveSettings(
  asked: StageSettings | undefined,
  facts: ModelFacts,
  inspection: ModelInspection | undefined,
): StageSettings {
  return {
    engine: asked?.engine || 'fixture',
    device: asked?.device || 'cpu',
    totalLayers: facts.numLayers,
    contextLength: Number(asked?.contextLength || minimum(BigInt(limits.defaultContextTokens), facts.maxSeqLen)),
    kvCacheType: asked?.kvCacheType || KvCacheType.KV_CACHE_TYPE_F16,
    microBatch: asked?.microBatch || limits.defaultMicroBatchRows,
    flashAttention: asked?.flashAttention ?? false,
    threads: asked?.threads || 1,
    sessions: asked?.sessions || 1,
    seed: asked?.seed ?? 0n,
    modelDigest: inspection?.digest ?? asked?.modelDigest ?? '',
    expectedBytes: 0n,
    fidelity: asked?.fidelity || Fidelity.FIDELITY_FAST,
  };
}

/** The settings of each stage of a plan: the run's, and the bytes that this stage reads. */
export function settingsOfStages(
  plan: RunPlan,
  settings: StageSettings,
  layers: LayerTable | undefined,
): StageSettings[] {
  const before = layers && prefixSums(layers);
  return plan.stages.map((stage) => ({
    ...settings,
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
