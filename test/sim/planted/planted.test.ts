import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bugs } from './bugs.js';
import { PatchedSource } from './patched-source.js';

/** Seeds after which a bug counts as not found: half of what the suite runs. */
const SEEDS = 1000;

let source: PatchedSource;
beforeAll(() => {
  source = new PatchedSource();
});
afterAll(() => source.close());

describe('a planted bug is caught', () => {
  it.each(bugs)('$name', { timeout: 120_000 }, async (bug) => {
    const { Simulation } = await source.load(bug);
    for (let seed = 1; seed <= SEEDS; seed++) {
      const { violation } = new Simulation({ seed }).run();
      if (seed % 8 === 0) await new Promise((resolve) => setImmediate(resolve));
      if (!violation) continue;
      console.info(`${bug.name}: seed ${seed}, ${violation.invariant}: ${violation.message}`);
      expect(bug.caughtBy, violation.message).toContain(violation.invariant);
      return;
    }
    expect.fail(`nobody noticed in ${SEEDS} seeds`);
  });
});
