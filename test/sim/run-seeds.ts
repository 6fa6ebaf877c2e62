import { Counters } from './counters.js';
import { Simulation, type SimulationResult } from './simulation.js';

export interface SeedsResult {
  readonly runs: number;
  readonly steps: number;
  readonly counters: Counters;
  /** The first that failed. */
  readonly failed: { readonly seed: number; readonly result: SimulationResult } | undefined;
}

export interface SeedsOptions {
  readonly first: number;
  readonly count: number;
  /** Asked after each run. */
  readonly goesOn?: ((soFar: SeedsResult) => boolean) | undefined;
}

/** Runs one seed after the other, until one fails. Lets others have their turn in between. */
export async function runSeeds({ first, count, goesOn = () => true }: SeedsOptions): Promise<SeedsResult> {
  const counters = new Counters();
  let steps = 0;
  for (let runs = 1; ; runs++) {
    const seed = first + runs - 1;
    const result = new Simulation({ seed }).run();
    counters.add(result.counters);
    steps += result.steps;
    const soFar = { runs, steps, counters, failed: result.violation ? { seed, result } : undefined };
    if (result.violation || runs === count || !goesOn(soFar)) return soFar;
    if (runs % 8 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
}
