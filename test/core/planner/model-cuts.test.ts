import { describe, expect, it } from 'vitest';
import { type ModelCuts, splitAtCuts } from '../../../src/core/planner/model-cuts.js';

const cuttable = (starts: readonly number[], refused: readonly number[] = []): ModelCuts => ({
  kind: 'cuttable',
  engine: 'llama.cpp',
  starts,
  rule: 'only there',
  refusedLengths: refused.map((layers) => ({ layers, because: 'tell' })),
});
const multiples = (step: number, layers: number) =>
  Array.from({ length: Math.ceil(layers / step) - 1 }, (_, at) => (at + 1) * step);

describe('a split at cuts', () => {
  it('is the even one where that is allowed', () => {
    expect(splitAtCuts(10, 3, cuttable(multiples(1, 10)))).toEqual([3, 6]);
  });

  it('takes the nearest cuts, the lower of two', () => {
    expect(splitAtCuts(26, 2, cuttable(multiples(6, 26)))).toEqual([12]);
    expect(splitAtCuts(24, 4, cuttable(multiples(4, 24)))).toEqual([4, 12, 16]);
  });

  it('leaves every later stage a cut of its own', () => {
    expect(splitAtCuts(20, 4, cuttable([6, 12, 18]))).toEqual([6, 12, 18]);
    expect(splitAtCuts(20, 3, cuttable([18, 19]))).toEqual([18, 19]);
    expect(splitAtCuts(20, 5, cuttable([6, 12, 18]))).toBeUndefined();
    expect(splitAtCuts(20, 1, { kind: 'uncut', engine: 'e', because: 'so' })).toEqual([]);
    expect(splitAtCuts(20, 2, { kind: 'uncut', engine: 'e', because: 'so' })).toBeUndefined();
  });

  it('gives no stage a refused number of layers', () => {
    expect(splitAtCuts(54, 2, cuttable(multiples(1, 54), [26, 27]))).toEqual([25]);
    expect(splitAtCuts(52, 2, cuttable(multiples(1, 52), [26, 27]))).toEqual([24]);
    expect(splitAtCuts(2, 2, cuttable([1], [1]))).toBeUndefined();
  });

  it('keeps its word for every size', () => {
    for (const step of [1, 2, 4, 6]) {
      for (let layers = 1; layers <= 60; layers++) {
        const cuts = multiples(step, layers);
        for (let stages = 1; stages <= cuts.length + 1; stages++) {
          const split = splitAtCuts(layers, stages, cuttable(cuts))!;
          expect(split).toHaveLength(stages - 1);
          expect(split.every((cut, at) => cuts.includes(cut) && cut > (split[at - 1] ?? 0))).toBe(true);
        }
      }
    }
  });
});
