import { describe, expect, test } from 'vitest';
import { pickToken } from '../../../../src/worker/engine/llama/pick-token.js';
import { GREEDY, type SamplingSettings } from '../../../../src/worker/engine/sampling.js';

const logits = Float32Array.of(0, 2, 1, 2, -1);

/** How often each token is drawn at positions 0 to `count`. */
function drawn(settings: Partial<SamplingSettings>, count = 4000): number[] {
  const times = new Array(logits.length).fill(0);
  for (let position = 0; position < count; position++)
    times[pickToken(logits, position, { ...GREEDY, ...settings })] += 1;
  return times;
}

describe('greedy', () => {
  test('takes the greatest logit, the lowest id among equals', () => {
    expect(pickToken(logits, 0, GREEDY)).toBe(1);
    expect(pickToken(logits, 0, { ...GREEDY, temperatureMillis: 800, topK: 1, seed: 7n })).toBe(1);
  });

  test('refuses a logit that is no number, wherever it stands', () => {
    expect(() => pickToken(Float32Array.of(Number.NaN, 1), 0, GREEDY)).toThrow('token 0');
    expect(() => pickToken(Float32Array.of(1, Number.NaN), 0, GREEDY)).toThrow('token 1');
  });
});

describe('sampling', () => {
  test('draws as often as exp(logit / temperature) says', () => {
    const temperature = 1.5;
    const weights = Array.from(logits, (logit) => Math.exp(logit / temperature));
    const sum = weights.reduce((total, weight) => total + weight, 0);
    const times = drawn({ temperatureMillis: 1500, topK: 0, seed: 3n });
    for (const [id, weight] of weights.entries()) expect(times[id]! / 4000).toBeCloseTo(weight / sum, 1);
  });

  test('keeps only the greatest top_k', () => {
    const times = drawn({ temperatureMillis: 5000, topK: 3, seed: 3n });
    expect(times.map((count) => count > 0)).toEqual([false, true, true, true, false]);
  });

  test('keeps the greatest of many, wherever they stand, and of equals the lowest ids', () => {
    const many = Float32Array.from({ length: 500 }, (_, id) => Math.round(20 * Math.sin(id * 7)));
    const sorted = Array.from(many.keys()).sort((a, b) => many[b]! - many[a]! || a - b);
    for (const topK of [2, 7, 60]) {
      const seen = new Set<number>();
      // So hot that all candidates are about as likely.
      const settings = { ...GREEDY, temperatureMillis: 1_000_000, topK, seed: 1n };
      for (let position = 0; position < 20 * topK; position++) seen.add(pickToken(many, position, settings));
      expect([...seen].sort((a, b) => a - b)).toEqual(sorted.slice(0, topK).sort((a, b) => a - b));
    }
  });

  test('depends on the seed and the position alone', () => {
    const settings = { ...GREEDY, temperatureMillis: 1000, topK: 0, seed: 5n };
    const story = (seed: bigint) => Array.from({ length: 40 }, (_, at) => pickToken(logits, at, { ...settings, seed }));
    expect(story(5n)).toEqual(story(5n));
    expect(story(5n)).not.toEqual(story(6n));
    expect(new Set(story(5n)).size).toBeGreaterThan(1);
  });

  test('a temperature near zero is greedy up to ties, and a great one overflows nothing', () => {
    expect(drawn({ temperatureMillis: 1, topK: 0, seed: 1n }, 50).map((count) => count > 0)).toEqual([
      false,
      true,
      false,
      true,
      false,
    ]);
    const steep = Float32Array.of(-3e38, 3e38);
    expect(pickToken(steep, 0, { ...GREEDY, temperatureMillis: 1, topK: 0, seed: 1n })).toBe(1);
  });
});
