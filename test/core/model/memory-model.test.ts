import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { DeviceKind } from '../../../gen/stageplane/v1/node.js';
import { RingSpec } from '../../../gen/stageplane/v1/plan.js';
import { EstimateBasis, type MemoryBreakdown } from '../../../gen/stageplane/v1/planner.js';
import { limits } from '../../../src/core/limits.js';
import { memoryModel } from '../../../src/core/model/memory-model.js';
import { inspectModel } from '../../../src/gguf/inspect-model.js';
import { type RealHeader, readRealHeader, writeRealModel } from '../../gguf/real-model.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { headsOf, known, MIB, sampleInspection, sampleSettings } from './samples.js';

const folder = temporaryFolder(afterAll);
const four = Array.from({ length: 4 }, () => headsOf(4, 2, 16));
/** 2 bytes of 2 x 16 keys and as many values, for 4096 tokens. */
const LAYER_CACHE = 128 * 4096;
/** A header and one micro-batch of 512 rows of 64 elements of 4 bytes, and beside it the rows that may overtake it. */
const ACTIVATION_RING = 40 + 512 * 64 * 4 + limits.decodesBeforePrefill * (40 + 64 * 4);
/** 4096 tokens in pieces of 512, each with a header. */
const TOKEN_RING = 8 * 40 + 4096 * 4;

async function real(name: Parameters<typeof readRealHeader>[0]) {
  const result = await inspectModel(writeRealModel(name, folder)[0]!);
  if (result.kind === 'refused') throw result.error;
  return result.inspection;
}

const parts = (breakdown: MemoryBreakdown) => {
  const { weights, kvCache, state, compute, embedding, head, rings, overhead } = breakdown;
  return [weights, kvCache, state, compute, embedding, head, rings, overhead].map((part) => part!.value);
};
const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0);

describe('a stage in the middle', () => {
  it('holds its layers, what every stage holds, their cache, two activation rings and its process', () => {
    const model = known(sampleInspection({ attention: four }));
    expect(model.parts(1, 3)).toEqual({
      weights: 2000 + 3000 + 30,
      kvCache: 2 * LAYER_CACHE,
      compute: limits.computeFloorBytes,
      embedding: 0,
      head: 0,
      rings: 2 * ACTIVATION_RING,
      overhead: limits.processOverheadBytes,
      total: 5030 + 2 * LAYER_CACHE + 64 * MIB + 2 * ACTIVATION_RING + 150 * MIB,
      host: 0,
      measured: false,
    });
  });

  it('on an accelerator has its rings and its process in ordinary memory', () => {
    const inspection = sampleInspection({ attention: four });
    const model = known(inspection, {}, { deviceKind: DeviceKind.DEVICE_KIND_GPU });
    const { rings, overhead, host } = model.parts(1, 3);
    expect([rings, overhead]).toEqual([0, limits.acceleratorOverheadBytes]);
    expect(host).toBe(known(inspection).parts(1, 3).rings + limits.processOverheadBytes);
  });
});

describe('the ends', () => {
  const ends = (sample: object, engine = 'other') => {
    const model = known(sampleInspection({ attention: four, ...sample }), { engine });
    return [model.parts(0, 2), model.parts(2, 4), model.parts(0, 4)].map(({ embedding, head }) => ({
      embedding,
      head,
    }));
  };

  it('hold the embedding, and the head', () => {
    expect(ends({})).toEqual([
      { embedding: 50_000, head: 0 },
      { embedding: 0, head: 7000 },
      { embedding: 50_000, head: 7000 },
    ]);
  });

  it('hold a tied embedding both, but a single stage holds it once', () => {
    expect(ends({ tied: true })).toEqual([
      { embedding: 50_000, head: 0 },
      { embedding: 0, head: 57_000 },
      { embedding: 50_000, head: 7000 },
    ]);
  });

  it('hold no table where the engine looks tokens up in the file, unless the stage is the whole model', () => {
    expect(ends({ tied: true }, 'llama.cpp')).toEqual([
      { embedding: 0, head: 512 },
      { embedding: 0, head: 57_000 },
      { embedding: 50_000, head: 7000 },
    ]);
  });

  it('have a token ring that takes the longest prompt of each conversation', () => {
    const inspection = sampleInspection({ attention: four });
    const ringsOf = (model = known(inspection)) => [model.parts(0, 2).rings, model.parts(0, 4).rings];
    expect(ringsOf()).toEqual([TOKEN_RING + ACTIVATION_RING, 2 * TOKEN_RING]);
    expect(ringsOf(known(inspection, { sessions: 3 }))).toEqual([3 * TOKEN_RING + ACTIVATION_RING, 6 * TOKEN_RING]);
  });

  it('have the rings that were asked for, with room for one longest prompt', () => {
    const ring = RingSpec.fromPartial({ dataCapacity: 1000n });
    const model = known(sampleInspection({ attention: four }), {}, { rings: { activation: ring, token: ring } });
    expect(model.parts(0, 2).rings).toBe(1000 + 40 + 4096 * 4);
  });

  it('compute logits on the last stage alone', () => {
    const model = known(sampleInspection({ attention: four }), { sessions: 3 });
    expect(model.parts(2, 4).compute - model.parts(0, 2).compute).toBe(2 * 4 * 3 * 1000);
  });
});

describe('real models', () => {
  it('Llama-3.1-8B: the weights of two stages are every byte of the file, and rope_freqs once more', async () => {
    const inspection = await real('llama8b');
    const model = known(inspection, { contextLength: 8192, flashAttention: false });
    const stages = [model.parts(0, 13), model.parts(13, 32)];
    const held = sum(stages.map(({ weights, embedding, head }) => weights + embedding + head));
    expect(held).toBe(readRealHeader('llama8b').modelSize + 256);
    expect(sum(stages.map(({ kvCache }) => kvCache))).toBe(1024 * MIB);
    // Scores, mask, and rows of 4096: one three times, queries twice, keys and values a quarter each. It is known for 560.
    expect(stages[0]!.compute).toBe((512 + 16 + 44) * MIB);
  });

  it('DeepSeek-R1: a token reads 8 of 256 experts in each layer, and all that is dense', async () => {
    const model = known(await real('deepseek'));
    const expert = (3 * 7168 * 2048 * 34) / 32;
    const { tensorInfos } = readRealHeader('deepseek');
    expect(model.readPerToken(3, 4)).toBe(bytesOf(tensorInfos, /^blk\.3\.(?!ffn_\w+_exps)/) + 8 * expert);
    expect(model.readPerToken(0, 1)).toBe(bytesOf(tensorInfos, /^blk\.0\./));
    expect(model.readPerToken(60, 61) - model.readPerToken(59, 60)).toBe(bytesOf(tensorInfos, /^output/));
    expect(model.parts(3, 4).weights).toBe(bytesOf(tensorInfos, /^blk\.3\./));
  });
});

/** By hand: F32 has 4 bytes per element, Q8_0 34 per 32. No other type is in that file. */
function bytesOf(tensors: RealHeader['tensorInfos'], name: RegExp): number {
  const F32 = 0;
  return sum(
    tensors
      .filter((tensor) => name.test(tensor.name))
      .map(({ dimensions, type }) => dimensions.reduce((all, dim) => all * dim, 1) * (type === F32 ? 4 : 34 / 32)),
  );
}

describe('a report', () => {
  it('gives every number its unit and its source', () => {
    const model = known(sampleInspection({ attention: four }));
    const breakdown = model.stage(1, 3, { stageIndex: 1, nodeId: 7n });
    expect(breakdown).toMatchObject({ stageIndex: 1, nodeId: 7n });
    const { stageIndex: _, nodeId: __, ...estimates } = breakdown;
    for (const estimate of Object.values(estimates)) {
      expect(estimate).toMatchObject({ unit: 'bytes', basis: EstimateBasis.ESTIMATE_BASIS_STATIC });
      expect(estimate!.note).not.toBe('');
    }
  });

  it('believes what was measured more than its own estimates, part by part', () => {
    const inspection = sampleInspection({ attention: four });
    const plain = known(inspection);
    const measured = plain.bytes(0, 2) - 100 * MIB;
    const model = known(
      inspection,
      {},
      {
        ledger: (start, end) => (start === 0 && end === 2 ? { deviceBytes: measured } : undefined),
      },
    );
    expect(model.bytes(0, 2)).toBe(measured);
    expect(model.bytes(2, 4)).toBe(plain.bytes(2, 4));
    const breakdown = model.stage(0, 2, { stageIndex: 0, nodeId: 2n });
    expect(breakdown.total!.basis).toBe(EstimateBasis.ESTIMATE_BASIS_LEDGER);
    expect(breakdown.weights!.basis).toBe(EstimateBasis.ESTIMATE_BASIS_STATIC);
    expect(sum(parts(breakdown))).toBe(measured);
  });

  it('does not believe a measurement that is less than the weights and the cache', () => {
    const inspection = sampleInspection({ attention: four });
    const model = known(inspection, {}, { ledger: () => ({ deviceBytes: 1000 }) });
    expect(model.bytes(0, 2)).toBe(known(inspection).bytes(0, 2));
  });

  it('does not believe a measurement of more than twice the estimate', () => {
    const inspection = sampleInspection({ attention: four });
    const most = 2 * known(inspection).bytes(0, 2);
    const measuring = (deviceBytes: number) => known(inspection, {}, { ledger: () => ({ deviceBytes }) });
    expect(measuring(most).bytes(0, 2)).toBe(most);
    const lied = measuring(most + 1);
    expect(lied.bytes(0, 2)).toBe(most / 2);
    expect(lied.stage(0, 2, { stageIndex: 0, nodeId: 2n }).total).toMatchObject({
      value: most / 2,
      basis: EstimateBasis.ESTIMATE_BASIS_STATIC,
    });
  });
});

describe('a model that nobody can price', () => {
  it.each([
    [
      'keeps a recurrent state',
      { recurrent: true, architecture: 'mamba' },
      'layers of architecture mamba keep a recurrent',
    ],
    ['does not say how many heads it has', { attention: [] }, 'llama.attention.head_count'],
    ['was not read', { layers: undefined }, "its layers' tensors were not read"],
  ])('%s', (_, change, sentence) => {
    const inspection = sampleInspection({ attention: four, inspection: change });
    const model = memoryModel(inspection, sampleSettings());
    expect(model).toMatchObject({ kind: 'unknown', message: expect.stringContaining(sentence) });
  });
});

describe('always', () => {
  const layer = fc.record({
    heads: fc.integer({ min: 1, max: 64 }),
    headsKv: fc.nat(64),
    keyLength: fc.nat(256),
    valueLength: fc.nat(256),
    window: fc.nat(4096),
  });
  const models = fc
    .record({
      attention: fc.array(layer, { minLength: 2, maxLength: 20 }),
      layerBytes: fc.array(fc.bigInt(0n, 2n ** 36n), { minLength: 20, maxLength: 20 }),
      embeddingBytes: fc.bigInt(0n, 2n ** 36n),
      headBytes: fc.bigInt(0n, 2n ** 36n),
      globalBytes: fc.bigInt(0n, 2n ** 20n),
      tied: fc.boolean(),
    })
    .map((sample) => sampleInspection(sample));

  it('cutting a model adds what every stage holds and a tied copy to the weights, and nothing to the cache', () => {
    fc.assert(
      fc.property(models, fc.array(fc.nat(), { minLength: 1, maxLength: 5 }), (inspection, cuts) => {
        const model = known(inspection);
        const { numLayers } = model;
        const starts = [...new Set([0, ...cuts.map((cut) => cut % numLayers)])].sort((a, b) => a - b);
        const stages = starts.map((start, at) => model.parts(start, starts[at + 1] ?? numLayers));
        const whole = model.parts(0, numLayers);
        const { globalBytes, embeddingBytes, tied } = inspection.layers!;
        const copies =
          (stages.length - 1) * Number(globalBytes) + (tied && stages.length > 1 ? Number(embeddingBytes) : 0);
        const weights = sum(stages.map((stage) => stage.weights + stage.embedding + stage.head));
        expect(weights).toBe(whole.weights + whole.embedding + whole.head + copies);
        expect(sum(stages.map(({ kvCache }) => kvCache))).toBe(whole.kvCache);
      }),
    );
  });

  it('a longer stage never takes less, whatever was measured', () => {
    const measurements = fc.array(fc.tuple(fc.nat(), fc.nat(), fc.nat(2 ** 40)), { maxLength: 8 });
    fc.assert(
      fc.property(models, measurements, (inspection, noted) => {
        const { numLayers } = known(inspection);
        const bytesOf = new Map(
          noted.map(([from, more, bytes]) => {
            const start = from % numLayers;
            return [`${start}-${start + 1 + (more % (numLayers - start))}`, bytes];
          }),
        );
        const model = known(
          inspection,
          {},
          {
            ledger: (start, end) => {
              const deviceBytes = bytesOf.get(`${start}-${end}`);
              return deviceBytes === undefined ? undefined : { deviceBytes };
            },
          },
        );
        for (let start = 0; start < numLayers; start++) {
          for (let end = start + 2; end < numLayers; end++) {
            const bytes = model.bytes(start, end);
            expect(bytes).toBeGreaterThanOrEqual(model.bytes(start, end - 1));
            if (start > 0) expect(bytes).toBeGreaterThanOrEqual(model.bytes(start + 1, end));
            const parts = model.parts(start, end);
            expect(parts.compute).toBeGreaterThanOrEqual(0);
          }
        }
      }),
      { numRuns: 50 },
    );
  });

  it('one more layer in the middle never takes less, and the parts add up to the total', () => {
    fc.assert(
      fc.property(models, fc.nat(), fc.nat(), (inspection, from, more) => {
        const model = known(inspection);
        const start = from % model.numLayers;
        const end = start + 1 + (more % (model.numLayers - start));
        const breakdown = model.stage(start, end, { stageIndex: 0, nodeId: 2n });
        expect(sum(parts(breakdown))).toBe(breakdown.total!.value);
        expect(model.bytes(start, end)).toBe(breakdown.total!.value);
        const isMiddle = start > 0 && end < model.numLayers;
        if (isMiddle && end - start > 1)
          expect(breakdown.total!.value).toBeGreaterThanOrEqual(model.bytes(start + 1, end));
      }),
    );
  });
});

it('the sum over any range is at hand, however many layers there are', () => {
  const many = known(
    sampleInspection({ attention: Array.from({ length: limits.ggufLayers }, () => headsOf(4, 2, 16)) }),
  );
  // n layers of 1000 times their number, and the globals.
  expect(many.parts(1, 60_001).weights).toBe((1000 * (60_001 * 60_002)) / 2 - 1000 + 30);
});
