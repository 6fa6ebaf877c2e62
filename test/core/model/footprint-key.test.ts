import { describe, expect, it } from 'vitest';
import { Fidelity, KvCacheType, StageSettings } from '../../../gen/stageplane/v1/provision.js';
import { footprintKey } from '../../../src/core/model/footprint-key.js';

const settings = StageSettings.fromPartial({
  engine: 'llama.cpp',
  device: 'cuda:0',
  totalLayers: 24,
  contextLength: 4096,
  kvCacheType: KvCacheType.KV_CACHE_TYPE_F16,
  microBatch: 128,
  flashAttention: true,
  threads: 4,
  sessions: 2,
  modelDigest: 'ab12',
});
const keyWith = (patch: Partial<StageSettings>) => footprintKey({ ...settings, ...patch })(0, 12);

describe('the key of a footprint', () => {
  it('can be read by people', () => {
    expect(footprintKey(settings)(0, 12)).toBe(
      'model ab12 layers 0-12 of 24 engine "llama.cpp" device "cuda:0" context 4096 cache KV_CACHE_TYPE_F16 ' +
        'micro-batch 128 flash-attention on sessions 2',
    );
  });

  it.each<Partial<StageSettings>>([
    { engine: 'fixture' },
    { device: 'cpu' },
    { totalLayers: 25 },
    { contextLength: 4097 },
    { kvCacheType: KvCacheType.KV_CACHE_TYPE_Q8_0 },
    { microBatch: 129 },
    { flashAttention: false },
    { sessions: 3 },
    { modelDigest: 'ab13' },
  ])('tells stages apart that hold different amounts: %o', (patch) => {
    expect(keyWith(patch)).not.toBe(keyWith({}));
  });

  it('tells ranges of layers apart', () => {
    const key = footprintKey(settings);
    expect(new Set([key(0, 12), key(0, 11), key(1, 12), key(12, 24)]).size).toBe(4);
  });

  it('is the same whatever changes no memory', () => {
    const patch = { threads: 8, seed: 7n, expectedBytes: 9n, reservedBytes: 9n, fidelity: Fidelity.FIDELITY_EXACT };
    expect(keyWith(patch)).toBe(keyWith({}));
  });

  it('cannot be forged by a name', () => {
    const [a, b] = [keyWith({ engine: 'a" device "b', device: 'c' }), keyWith({ engine: 'a', device: 'b" device "c' })];
    expect(a).not.toBe(b);
  });
});
