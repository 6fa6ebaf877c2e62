import fc from 'fast-check';
import { expect, it } from 'vitest';
import { segmentBar } from '../../../src/cli/format/segment-bar.js';

const bar = (sizes: readonly number[], width: number) =>
  segmentBar(
    sizes.map((size, at) => ({ letter: 'abcdef'[at]!, size })),
    width,
  );

it('shares its cells by size, and shows what is there at all', () => {
  expect(bar([1, 2, 1], 8)).toBe('aabbbbcc');
  expect(bar([1, 0, 1000, 1], 10)).toBe('accccccccd');
  expect(bar([0, 0], 4)).toBe('····');
});

it('always has its width, and a cell for each size', () => {
  const sizes = fc.array(fc.double({ min: 0, max: 1e12, noNaN: true }), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(sizes, (given) => {
      const text = bar(given, 40);
      expect(text).toHaveLength(40);
      for (const [at, size] of given.entries()) expect(text.includes('abcdef'[at]!)).toBe(size > 0);
    }),
  );
});
