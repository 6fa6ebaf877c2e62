import type { Action } from './nemesis.js';
import type { SimulationOptions, SimulationResult } from './simulation.js';

type Run = (options: SimulationOptions) => SimulationResult;

/** Runs that looking for a smaller failure may take: it is for people, and they wait. */
const PATIENCE = 150;

/** The fewest actions, as far as is cheap, after which the same invariant is still broken: first halves are dropped, then ones. */
export function shrink(run: Run, seed: number, failed: SimulationResult): SimulationResult {
  const { invariant, at } = failed.violation!;
  let smallest = failed.actions.filter((action) => action.at <= at);
  let runs = 0;
  const stillFails = (actions: readonly Action[]) =>
    runs++ < PATIENCE && run({ seed, actions }).violation?.invariant === invariant;
  for (let size = Math.ceil(smallest.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < smallest.length; ) {
      const without = smallest.toSpliced(from, size);
      if (stillFails(without)) smallest = without;
      else from += size;
    }
  }
  const told = run({ seed, actions: smallest, transcript: true });
  return told.violation ? told : run({ seed, actions: failed.actions, transcript: true });
}
