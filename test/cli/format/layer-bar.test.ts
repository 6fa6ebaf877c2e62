import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { layerBar, progressBar } from '../../../src/cli/format/layer-bar.js';

describe('layerBar', () => {
  it('shows where in the model a stage lies', () => {
    expect(layerBar(0, 4, 8, 8)).toBe('████····');
    expect(layerBar(4, 8, 8, 8)).toBe('····████');
    expect(layerBar(3, 4, 1000, 8)).toBe('█·······');
    expect(layerBar(999, 1000, 1000, 8)).toBe('·······█');
  });

  it('always has its width and at least one cell of the stage', () => {
    const range = fc.tuple(fc.nat(1000), fc.nat(1000), fc.nat(1000));
    fc.assert(
      fc.property(range, fc.integer({ min: 1, max: 80 }), ([start, more, rest], width) => {
        const bar = layerBar(start, start + 1 + more, start + 1 + more + rest, width);
        expect(bar).toHaveLength(width);
        expect(bar).toMatch(/^·*█+·*$/);
      }),
    );
  });
});

describe('progressBar', () => {
  it('is full only when all is done, and stays so', () => {
    expect(progressBar(0n, 10n, 4)).toBe('····');
    expect(progressBar(9n, 10n, 4)).toBe('███·');
    expect(progressBar(12n, 10n, 4)).toBe('████');
    expect(progressBar(0n, 0n, 4)).toBe('····');
  });
});
