import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { inspectModel } from '../../src/gguf/inspect-model.js';
import { type TinyModelOptions, writeTinyModel } from '../../src/gguf/tiny-model.js';
import { LEAST_VOCABULARY, tinyVocabulary } from '../../src/gguf/tiny-vocabulary.js';
import { writeGguf } from '../../src/gguf/write-gguf.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const folder = temporaryFolder(afterAll);

async function inspectTiny(name: string, options?: TinyModelOptions) {
  const [path] = await writeTinyModel(join(folder, name), options);
  const result = await inspectModel(path);
  if (result.kind === 'refused') throw result.error;
  return { ...result, path };
}

describe('the tiny model', () => {
  it('is a whole llama model of 8 layers and under 2 MB', async () => {
    const { inspection, obstacle, path } = await inspectTiny('default.gguf');
    expect(obstacle).toBeUndefined();
    expect(inspection).toMatchObject({ architecture: 'llama', headCounts: [4n], headCountsKv: [2n], shardCount: 1 });
    expect(inspection.facts).toMatchObject({ numLayers: 8, hiddenDim: 64n, maxSeqLen: 2048n, eosTokenId: 2 });
    expect(statSync(path).size).toBeLessThan(2_000_000);
  });

  it('is what its options say', async () => {
    const { inspection } = await inspectTiny('options.gguf', {
      layers: 3,
      hidden: 32,
      feedForward: 48,
      heads: 2,
      headsKv: 1,
      vocabulary: 300,
      contextLength: 99,
      tied: true,
      version: 2,
      shards: 2,
      name: 'mine',
    });
    expect(inspection).toMatchObject({ ggufVersion: 2, headCounts: [2n], headCountsKv: [1n], shardCount: 2 });
    expect(inspection).toMatchObject({ vocabularySize: 300n, layers: { tied: true, embeddingBytes: 38_400n } });
    expect(inspection.facts).toMatchObject({ modelId: 'mine', numLayers: 3, hiddenDim: 32n, maxSeqLen: 99n });
  });

  it('has the same bytes for the same seed only', async () => {
    const bytesOf = async (seed: number) => readFileSync((await inspectTiny(`seed.gguf`, { seed })).path);
    expect((await bytesOf(1)).equals(await bytesOf(1))).toBe(true);
    expect((await bytesOf(1)).equals(await bytesOf(2))).toBe(false);
  });

  it('has finite weights that are not all alike', async () => {
    const bytes = readFileSync((await inspectTiny('weights.gguf')).path);
    const floats = Array.from({ length: 1000 }, (_, index) => bytes.readFloatLE(bytes.length - 4 * (index + 1)));
    expect(floats.every((float) => Math.abs(float) <= 0.375)).toBe(true);
    expect(new Set(floats).size).toBeGreaterThan(900);
  });

  it.each([{ hidden: 60 }, { headsKv: 3 }, { vocabulary: LEAST_VOCABULARY - 1 }, { shards: 100_000 }])(
    'refuses %o',
    async (options) => {
      await expect(writeTinyModel(join(folder, 'never.gguf'), options)).rejects.toThrow(RangeError);
    },
  );
});

describe('the tiny vocabulary', () => {
  it.each([LEAST_VOCABULARY, 512, 10_000])('of %i tokens repeats none and can spell every byte', (size) => {
    const { tokens, scores, types } = tinyVocabulary(size);
    expect([tokens.length, scores.length, types.length]).toEqual([size, size, size]);
    expect(new Set(tokens).size).toBe(size);
    expect(tokens.filter((token) => /^<0x[0-9A-F]{2}>$/.test(token))).toHaveLength(256);
    expect(tokens).toContain('▁');
  });
});

describe('the writer', () => {
  const tensor = (pieces: Uint8Array[]) => ({ name: 't', type: 'F32' as const, dims: [4], data: () => pieces });

  it('takes data in pieces, from a stream too', async () => {
    const path = join(folder, 'pieces.gguf');
    async function* stream() {
      yield Uint8Array.of(1, 2, 3);
      yield new Uint8Array(13).fill(9);
    }
    const size = await writeGguf(path, { metadata: [], tensors: [{ ...tensor([]), data: stream }] });
    const bytes = readFileSync(path);
    expect(bytes).toHaveLength(size);
    expect([...bytes.subarray(-32, -28)]).toEqual([1, 2, 3, 9]);
  });

  it('leaves nothing behind when data and extents disagree', async () => {
    const tensors = [tensor([new Uint8Array(15)])];
    await expect(writeGguf(join(folder, 'short.gguf'), { metadata: [], tensors })).rejects.toThrow('15 bytes');
    expect(readdirSync(folder).filter((name) => name.startsWith('short'))).toEqual([]);
  });
});
