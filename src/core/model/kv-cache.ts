import type { LayerAttention } from '../../../gen/stageplane/v1/model.js';
import { KvCacheType, type StageSettings } from '../../../gen/stageplane/v1/provision.js';
import type { EngineMemory } from './engine-memory.js';

/** llama.cpp rounds the tokens of a cache up to a multiple of this. */
const CELL_STEP = 256;

/** Elements of a row are stored in blocks of so many, in so many bytes each: ggml's own sizes. */
const rowTypes: ReadonlyMap<KvCacheType, { readonly block: number; readonly bytes: number }> = new Map([
  [KvCacheType.KV_CACHE_TYPE_F16, { block: 1, bytes: 2 }],
  [KvCacheType.KV_CACHE_TYPE_Q8_0, { block: 32, bytes: 34 }],
  [KvCacheType.KV_CACHE_TYPE_Q4_0, { block: 32, bytes: 18 }],
]);

type CacheSettings = Pick<StageSettings, 'contextLength' | 'microBatch'>;

/**
 * Tokens that one session's cache has room for in a layer: the context, rounded up to 256; where the layer has a window,
 * the window and one micro-batch suffice, since a row is computed before the ones that it displaces are gone.
 */
export function cacheCells(window: number, settings: CacheSettings, engine: EngineMemory): number {
  const whole = roundUp(settings.contextLength);
  if (window === 0 || engine.keepsBeyondWindow) return whole;
  return Math.min(whole, roundUp(window + settings.microBatch));
}

/**
 * Bytes of the keys and values of each layer, for all sessions: every session has a cache of its own, since the engine
 * shares none between them. Without flash attention the values lie transposed, and every layer has room for as many as
 * the one that has most: in a stage without that layer it takes less than is said here.
 */
export function kvCacheBytes(
  attention: readonly LayerAttention[],
  settings: Pick<StageSettings, 'contextLength' | 'microBatch' | 'sessions' | 'kvCacheType' | 'flashAttention'>,
  engine: EngineMemory,
): number[] {
  const row = rowTypes.get(settings.kvCacheType) ?? rowTypes.get(KvCacheType.KV_CACHE_TYPE_F16)!;
  const rowBytes = (elements: number) => Math.ceil(elements / row.block) * row.bytes;
  const values = attention.map((layer) => layer.headsKv * layer.valueLength);
  const mostValues = values.reduce((most, count) => Math.max(most, count), 0);
  return attention.map(({ headsKv, keyLength, window }, layer) => {
    const perToken = rowBytes(headsKv * keyLength) + rowBytes(settings.flashAttention ? values[layer]! : mostValues);
    return perToken * cacheCells(window, settings, engine) * settings.sessions;
  });
}

function roundUp(tokens: number): number {
  return Math.ceil(tokens / CELL_STEP) * CELL_STEP;
}
