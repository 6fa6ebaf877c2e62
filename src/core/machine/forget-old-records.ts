import { limits } from '../limits.js';
import type { World } from './state.js';

/** Bounds what outlives its run, oldest first, as the store does (I16). */
export function forgetOldRecords(world: World): void {
  forgetSpentRequests(world);
  forgetOldFootprints(world);
}

/** Renewed records are the last of the map. */
function forgetOldFootprints({ footprints }: World): void {
  for (const key of footprints.keys()) {
    if (footprints.size <= limits.footprintRecords) return;
    footprints.delete(key);
  }
}

/** Only requests whose run is gone may go: the others guard against a second effect (I9). */
function forgetSpentRequests(world: World): void {
  let excess = world.requests.size - limits.requestRecords;
  if (excess <= 0) return;
  const spent = [...world.requests.values()].filter(({ runId }) => !world.runs.has(runId));
  spent.sort((a, b) => (a.runId < b.runId ? -1 : 1));
  for (const { requestId } of spent) {
    if (excess-- <= 0) return;
    world.requests.delete(requestId);
  }
}
