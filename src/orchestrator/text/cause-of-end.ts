import type { RunCause } from '../../../gen/stageplane/v1/run.js';
import type { RunId } from '../../core/ids.js';
import { limits } from '../../core/limits.js';
import type { Loop } from '../loop.js';
import { runView } from '../run-view.js';
import type { WatchHub } from '../watch-hub.js';

/**
 * Why a run ended: waits until its cause is fixed, which the machine does within a second. Undefined when it was stopped
 * or is gone, and when it does not end at all.
 */
export async function causeOfEnd(loop: Loop, hub: WatchHub, id: RunId): Promise<RunCause | undefined> {
  const cause = () => causeNow(loop, id);
  if (isSettled(loop, id)) return cause();
  let stopListening: () => void = () => {};
  let patience: NodeJS.Timeout | undefined;
  await new Promise<void>((resolve) => {
    patience = setTimeout(resolve, limits.causeMillis);
    stopListening = hub.onRun(id, () => {
      if (isSettled(loop, id)) resolve();
    });
  });
  clearTimeout(patience);
  stopListening();
  return cause();
}

function causeNow({ world }: Loop, id: RunId): RunCause | undefined {
  const run = world.runs.get(id);
  return run && runView(world, run).cause;
}

function isSettled(loop: Loop, id: RunId): boolean {
  const run = loop.world.runs.get(id);
  if (run === undefined || causeNow(loop, id) !== undefined) return true;
  return run.outcome !== undefined && run.outcome !== 'FAULTED';
}
