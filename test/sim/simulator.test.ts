import { afterAll, describe, expect, it } from 'vitest';
import { Counters } from './counters.js';
import { failureText } from './failure-text.js';
import { runSeeds } from './run-seeds.js';
import { Simulation } from './simulation.js';

const SHARDS = 8;
const SEEDS = 250;
const counters = new Counters();
let runs = 0;

describe('worlds of one to twelve machines keep every invariant, and settle once faults stop', () => {
  const firsts = Array.from({ length: SHARDS }, (_, shard) => 1 + shard * SEEDS);
  it.each(firsts)(`${SEEDS} seeds from %i on (I1 to I12, I14 to I20)`, { timeout: 300_000 }, async (first) => {
    const result = await runSeeds({ first, count: SEEDS });
    counters.add(result.counters);
    runs += result.runs;
    if (result.failed) expect.fail(failureText(result.failed.seed, result.failed.result));
  });

  it('tells the same seed the same way', () => {
    const tell = () => new Simulation({ seed: 7, transcript: true }).run().transcript;
    expect(tell()).toEqual(tell());
  });

  // Only of the whole suite: a part of it need not get everywhere.
  afterAll(() => {
    if (runs === SHARDS * SEEDS) expect(counters.missing, 'no world came to this').toEqual([]);
  });
});
