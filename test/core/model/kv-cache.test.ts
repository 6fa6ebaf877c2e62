import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LayerAttention } from '../../../gen/stageplane/v1/model.js';
import { KvCacheType, type StageSettings } from '../../../gen/stageplane/v1/provision.js';
import { engineMemory } from '../../../src/core/model/engine-memory.js';
import { kvCacheBytes } from '../../../src/core/model/kv-cache.js';
import { headsOf, MIB, sampleSettings } from './samples.js';

const { KV_CACHE_TYPE_F16: F16, KV_CACHE_TYPE_Q8_0: Q8_0, KV_CACHE_TYPE_Q4_0: Q4_0 } = KvCacheType;

const layersOf = (count: number, layer: (index: number) => LayerAttention) =>
  Array.from({ length: count }, (_, index) => layer(index));

/** Bytes of each layer, with an engine that keeps no more than it must. */
const perLayer = (attention: readonly LayerAttention[], change: Partial<StageSettings> = {}, engine = 'other') =>
  kvCacheBytes(attention, sampleSettings(change), engineMemory(engine));

const total = (...args: Parameters<typeof perLayer>) => perLayer(...args).reduce((sum, bytes) => sum + bytes, 0);

const llama8b = layersOf(32, () => headsOf(32, 8, 128));
const gemma27b = layersOf(62, (layer) => headsOf(32, 16, 128, layer % 6 < 5 ? 1024 : 0));

describe('known answers', () => {
  it('Llama-3.1-8B at 8192 tokens takes 1024 MiB in F16 and 544 MiB in Q8_0', () => {
    expect(total(llama8b, { contextLength: 8192, kvCacheType: F16 })).toBe(1024 * MIB);
    expect(total(llama8b, { contextLength: 8192, kvCacheType: Q8_0 })).toBe(544 * MIB);
    // 18 bytes for 32 elements instead of 64.
    expect(total(llama8b, { contextLength: 8192, kvCacheType: Q4_0 })).toBe(288 * MIB);
  });

  it('DeepSeek-R1 at 4096 tokens takes 274.5 MiB with latent attention and 19520 MiB in an older file', () => {
    const latent = layersOf(61, () => ({ heads: 128, headsKv: 1, keyLength: 576, valueLength: 0, window: 0 }));
    const whole = layersOf(61, () => ({ heads: 128, headsKv: 128, keyLength: 192, valueLength: 128, window: 0 }));
    expect(total(latent)).toBe(274.5 * MIB);
    expect(total(whole)).toBe(19_520 * MIB);
  });

  it('Gemma-3-27B at 32768 tokens takes 3184 MiB, not the 15872 of a model without windows', () => {
    expect(total(gemma27b, { contextLength: 32_768 })).toBe(3184 * MIB);
    expect(total(gemma27b, { contextLength: 32_768 }, 'llama.cpp')).toBe(15_872 * MIB);
  });

  it('SmolLM2-135M takes what llama.cpp says: 90 MiB at 4096 tokens, 33.75 for three sessions of 300', () => {
    const smol = layersOf(30, () => headsOf(9, 3, 64));
    expect(total(smol)).toBe(90 * MIB);
    expect(total(smol, { sessions: 4 })).toBe(360 * MIB);
    expect(total(smol, { contextLength: 300, sessions: 3 })).toBe(33.75 * MIB);
  });
});

describe('a layer', () => {
  const mixed = [headsOf(0, 0, 64), headsOf(8, 2, 64), headsOf(8, 4, 64)];

  it('has its own heads: a first one without any does not make the cache empty', () => {
    // 2 bytes of 2 x 64 keys and as many values, and twice that.
    expect(perLayer(mixed)).toEqual([0, 512 * 4096, 1024 * 4096]);
  });

  it('has room for the values of the widest layer where they lie transposed', () => {
    expect(perLayer(mixed, { flashAttention: false })).toEqual([512 * 4096, (256 + 512) * 4096, 1024 * 4096]);
  });

  it('with a window keeps it and one micro-batch, rounded up, and never more than the context', () => {
    const windowed = [headsOf(8, 2, 64, 1000)];
    expect(perLayer(windowed, { microBatch: 512 })).toEqual([512 * 1536]);
    expect(perLayer(windowed, { microBatch: 1 })).toEqual([512 * 1024]);
    expect(perLayer(windowed, { contextLength: 300 })).toEqual([512 * 512]);
  });
});

describe('always', () => {
  const layer = fc.record({
    heads: fc.nat(64),
    headsKv: fc.nat(64),
    keyLength: fc.nat(600),
    valueLength: fc.nat(600),
    window: fc.nat(8192),
  });
  const settings = fc.record({
    contextLength: fc.integer({ min: 1, max: 200_000 }),
    sessions: fc.integer({ min: 1, max: 64 }),
    microBatch: fc.integer({ min: 1, max: 4096 }),
    kvCacheType: fc.constantFrom(F16, Q8_0, Q4_0),
    flashAttention: fc.boolean(),
  });
  const attention = fc.array(layer, { minLength: 1, maxLength: 12 });
  const engine = fc.constantFrom('other', 'llama.cpp');

  it('more context never takes less, and each session takes as much as the first', () => {
    fc.assert(
      fc.property(attention, settings, fc.nat(100_000), engine, (layers, change, more, name) => {
        const longer = { ...change, contextLength: change.contextLength + more };
        expect(total(layers, longer, name)).toBeGreaterThanOrEqual(total(layers, change, name));
        expect(total(layers, change, name)).toBe(change.sessions * total(layers, { ...change, sessions: 1 }, name));
      }),
    );
  });

  it('a window never takes more than none, and a smaller type never more than a larger one', () => {
    fc.assert(
      fc.property(attention, settings, (layers, change) => {
        const open = layers.map((each) => ({ ...each, window: 0 }));
        expect(total(layers, change)).toBeLessThanOrEqual(total(open, change));
        const wide = layers.map((each) => ({
          ...each,
          keyLength: 32 * each.keyLength,
          valueLength: 32 * each.valueLength,
        }));
        const of = (kvCacheType: KvCacheType) => total(wide, { ...change, kvCacheType });
        expect(of(Q4_0)).toBeLessThanOrEqual(of(Q8_0));
        expect(of(Q8_0)).toBeLessThanOrEqual(of(F16));
      }),
    );
  });
});
