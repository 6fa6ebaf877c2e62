import { shrink } from './shrink.js';
import { Simulation, type SimulationOptions, type SimulationResult } from './simulation.js';

/** What somebody needs who is to understand a failure: what broke, how to see it again, and what led there. */
export function failureText(seed: number, failed: SimulationResult): string {
  const run = (options: SimulationOptions) => new Simulation(options).run();
  const { violation, actions, transcript } = shrink(run, seed, failed);
  const { invariant, message, step, at } = failed.violation!;
  return [
    `seed ${seed}, step ${step}, ${(at / 1000).toFixed(3)} s: ${invariant} is broken: ${message}`,
    `again: npm run sim -- --seed ${seed}`,
    ...(violation ? [`with ${actions.length} of ${failed.actions.length} actions: ${violation.message}`, ''] : ['']),
    ...transcript.slice(-200),
  ].join('\n');
}
