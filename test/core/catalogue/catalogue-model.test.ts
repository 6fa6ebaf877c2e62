import { afterAll, describe, expect, it } from 'vitest';
import type { LayerTable, ModelInspection } from '../../../gen/stageplane/v1/model.js';
import { KvCacheType } from '../../../gen/stageplane/v1/provision.js';
import { catalogueModel } from '../../../src/core/catalogue/catalogue-model.js';
import { findModel } from '../../../src/core/catalogue/find-model.js';
import { layoutTensors } from '../../../src/core/catalogue/layout-tensors.js';
import { layouts } from '../../../src/core/catalogue/layouts.js';
import { engineMemory } from '../../../src/core/model/engine-memory.js';
import { kvCacheBytes } from '../../../src/core/model/kv-cache.js';
import { memoryModel } from '../../../src/core/model/memory-model.js';
import { inspectModel } from '../../../src/gguf/inspect-model.js';
import { planningObstacle } from '../../../src/gguf/planning-obstacle.js';
import { writeRealModel } from '../../gguf/real-model.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { MIB, sampleSettings } from '../model/samples.js';

const GIB = 1024 ** 3;
const folder = temporaryFolder(afterAll);

function known(reference: string): ModelInspection {
  const found = findModel(reference);
  if (found.kind === 'refused') throw new Error(found.message);
  return found.model.inspection;
}

async function fromFile(name: 'llama8b' | 'deepseek'): Promise<ModelInspection> {
  const read = await inspectModel(writeRealModel(name, folder)[0]!);
  if (read.kind === 'refused') throw read.error;
  return read.inspection;
}

/** What of an inspection only a file can say, or lists in an order of its own. */
function comparable({ facts, layers, ...rest }: ModelInspection) {
  const { modelId, ggufSource, eosTokenId, ...shape } = facts!;
  const { ggufVersion, digest, fileBytes, shardCount, ...inspection } = rest;
  return { ...inspection, facts: shape, layers: withoutTypes(layers!) };
}

function withoutTypes({ layers, ...ends }: LayerTable) {
  return { ...ends, layers: layers.map(({ tensorTypes, ...layer }) => ({ ...layer, types: [...tensorTypes].sort() })) };
}

describe('a model of the catalogue', () => {
  it('is what the file of Llama 3.1 8B says, layer by layer and to the byte', async () => {
    expect(comparable(known('llama3.1:8b@q8_0'))).toEqual(comparable(await fromFile('llama8b')));
  });

  it('is what the file of DeepSeek-R1 says, but for the way in which newer files keep attention', async () => {
    const { attention, headCountsKv, layers, ...said } = comparable(known('deepseek-r1:671b@q8_0'));
    const { attention: _, headCountsKv: older, layers: asRead, ...read } = comparable(await fromFile('deepseek'));
    expect(said).toEqual(read);
    // One tensor became two of the same bytes together.
    const layersWithOneMore = asRead.layers.map((layer) => ({ ...layer, tensorCount: layer.tensorCount + 1 }));
    expect(layers).toEqual({ ...asRead, layers: layersWithOneMore });
    expect([older, headCountsKv, attention[60]]).toEqual([
      [128n],
      [1n],
      { heads: 128, headsKv: 1, keyLength: 576, valueLength: 0, window: 0 },
    ]);
  });

  it('was compared with a file where its layout says so', () => {
    const compared = layouts.filter(({ comparedWithFile }) => comparedWithFile).map(({ name, size }) => name + size);
    // The second one in `test/real-model`.
    expect(compared).toEqual(['llama3.18b', 'smollm2135m', 'deepseek-r1671b']);
  });

  it.each(layouts)('has as many parameters as the makers of $name:$size count', (layout) => {
    const counted = layoutTensors(layout).filter(({ name }) => name !== 'rope_freqs.weight');
    const elements = counted.map(({ dims }) => dims.reduce((product, dim) => product * dim, 1));
    expect(elements.reduce((sum, count) => sum + count, 0)).toBe(layout.parameters);
  });

  // What llama.cpp prints for files that were published, in GiB with two decimals.
  it.each([
    ['llama3.1:8b', 4.58],
    ['llama3.1:70b', 39.59],
    ['mixtral:8x7b', 26.49],
    ['qwen2.5:7b', 4.36],
    ['qwen2.5:72b', 44.15],
    ['qwen3:30b-a3b', 17.28],
    ['gemma3:1b', 762.49 / 1024],
    ['smollm2:1.7b', 1005.01 / 1024],
    ['gpt-oss:120b', 59.02],
  ])('has the bytes of the published file of %s: %f GiB', (reference, gibibytes) => {
    const bytes = Number(known(reference).layers!.totalBytes);
    expect(Math.abs(bytes / GIB - gibibytes)).toBeLessThanOrEqual(gibibytes < 1 ? 0.005 / 1024 : 0.005);
  });

  it.each(layouts)('lets $name:$size be planned, its parts adding up', (layout) => {
    const { inspection } = catalogueModel(layout, layout.publishedAs ?? 'q4_k_m');
    expect(planningObstacle(inspection)).toBeUndefined();
    expect(memoryModel(inspection, sampleSettings({ contextLength: 4096 }))).toMatchObject({ kind: 'memory-model' });
    const { layers, embeddingBytes, headBytes, globalBytes, totalBytes } = inspection.layers!;
    const ofLayers = layers.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0n);
    expect(ofLayers + embeddingBytes + headBytes + globalBytes).toBe(totalBytes);
  });

  it('keeps what the notes of its cache say', () => {
    const cache = (reference: string, contextLength: number, kvCacheType = KvCacheType.KV_CACHE_TYPE_F16) => {
      const settings = sampleSettings({ contextLength, kvCacheType, microBatch: 512 });
      return kvCacheBytes(known(reference).attention, settings, engineMemory('other')).reduce((a, b) => a + b, 0);
    };
    expect(cache('llama3.1:8b', 8192)).toBe(1024 * MIB);
    expect(cache('llama3.1:8b', 8192, KvCacheType.KV_CACHE_TYPE_Q8_0)).toBe(544 * MIB);
    expect(cache('deepseek-r1:671b', 4096)).toBe(274.5 * MIB);
    expect(cache('gemma3:27b', 32_768)).toBe(3184 * MIB);
    expect(cache('smollm2:135m', 4096)).toBe(90 * MIB);
  });

  it('counts experts apart, so that a token reads only its own', () => {
    const { layers, expertCount, expertsUsed } = known('qwen3:30b-a3b');
    expect([expertCount, expertsUsed]).toEqual([128, 8]);
    const [first] = layers!.layers;
    // 2 x 144 and, in the first eighth of the layers, 210 bytes for 256 elements, of 128 experts of 768 x 2048.
    expect(first!.expertBytes).toBe(BigInt(((2 * 144 + 210) * 128 * 768 * 2048) / 256));
    expect(first!.sizeBytes).toBeGreaterThan(first!.expertBytes);
  });
});
