import type { RunCause } from '../../../gen/stageplane/v1/run.js';
import { limits } from '../../core/limits.js';
import type { RunState } from '../../core/machine/state.js';
import type { Loop } from '../loop.js';
import { runView } from '../run-view.js';
import type { WatchHub } from '../watch-hub.js';

type Generation = Pick<RunState, 'runId' | 'generation'>;

/**
 * Why a generation of a run ended: waits until its cause is fixed, which the machine does within a second. Undefined when
 * it was stopped or is gone, and when it does not end at all.
 */
export async function causeOfEnd(loop: Loop, hub: WatchHub, generation: Generation): Promise<RunCause | undefined> {
  const cause = () => causeNow(loop, generation);
  if (isSettled(loop, generation)) return cause();
  let stopListening: () => void = () => {};
  let patience: NodeJS.Timeout | undefined;
  await new Promise<void>((resolve) => {
    patience = setTimeout(resolve, limits.causeMillis);
    stopListening = hub.onRun(generation.runId, () => {
      if (isSettled(loop, generation)) resolve();
    });
  });
  clearTimeout(patience);
  stopListening();
  return cause();
}

function causeNow({ world }: Loop, { runId, generation }: Generation): RunCause | undefined {
  const run = world.runs.get(runId);
  const view = run && runView(world, run);
  return run && run.generation > generation ? view?.lastCause : view?.cause;
}

function isSettled(loop: Loop, generation: Generation): boolean {
  const run = loop.world.runs.get(generation.runId);
  if (run === undefined || run.generation > generation.generation) return true;
  if (causeNow(loop, generation) !== undefined) return true;
  return run.outcome !== undefined && run.outcome !== 'FAULTED';
}
