import { type LayerAttention, ModelInspection } from '../../../gen/stageplane/v1/model.js';
import { KvCacheType, StageSettings } from '../../../gen/stageplane/v1/provision.js';
import { type MemoryModel, type MemoryOptions, memoryModel } from '../../../src/core/model/memory-model.js';

export const MIB = 1024 ** 2;

export const headsOf = (heads: number, headsKv: number, length: number, window = 0): LayerAttention => ({
  heads,
  headsKv,
  keyLength: length,
  valueLength: length,
  window,
});

export interface SampleModel {
  readonly attention: readonly LayerAttention[];
  /** Bytes of each layer. Default 1000 times its number, from 1. */
  readonly layerBytes?: readonly bigint[];
  readonly expertBytes?: readonly bigint[];
  readonly embeddingBytes?: bigint;
  readonly headBytes?: bigint;
  readonly globalBytes?: bigint;
  readonly tied?: boolean;
  readonly inspection?: Partial<ModelInspection>;
}

/** An inspection of a model that exists only here. */
export function sampleInspection(sample: SampleModel): ModelInspection {
  const { attention, tied = false, embeddingBytes = 50_000n, headBytes = 7_000n, globalBytes = 30n } = sample;
  const layers = attention.map((_, index) => ({
    index,
    sizeBytes: sample.layerBytes?.[index] ?? BigInt(1000 * (index + 1)),
    tensorCount: 1,
    tensorTypes: ['F32'],
    expertBytes: sample.expertBytes?.[index] ?? 0n,
  }));
  const inLayers = layers.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0n);
  const totalBytes = inLayers + embeddingBytes + headBytes + globalBytes;
  return {
    ...ModelInspection.create(),
    facts: {
      ...ModelInspection.fromPartial({ facts: {} }).facts!,
      modelId: 'sample',
      numLayers: layers.length,
      hiddenDim: 64n,
      dtypeWidthBytes: 4n,
    },
    architecture: 'llama',
    layers: { layers, embeddingBytes, headBytes, globalBytes, tied, totalBytes, nextTokenPredictionBytes: 0n },
    attention: [...attention],
    vocabularySize: 1000n,
    ...sample.inspection,
  };
}

export function sampleSettings(change: Partial<StageSettings> = {}): StageSettings {
  return {
    ...StageSettings.create(),
    engine: 'other',
    contextLength: 4096,
    kvCacheType: KvCacheType.KV_CACHE_TYPE_F16,
    microBatch: 512,
    flashAttention: true,
    sessions: 1,
    ...change,
  };
}

export function known(
  inspection: ModelInspection,
  settings: Partial<StageSettings> = {},
  options: MemoryOptions = {},
): MemoryModel {
  const model = memoryModel(inspection, sampleSettings(settings), options);
  if (model.kind === 'unknown') throw new Error(model.message);
  return model;
}
