import { constraintConflict } from './constraint-conflict.js';
import { roomOn } from './measure.js';
import { type Placement, placementOf } from './placement.js';
import type { PlacementProblem } from './placement-problem.js';
import { searchGrid } from './search-grid.js';
import { minLatency } from './strategies/min-latency.js';
import { ordersInUse } from './strategies/orders-in-use.js';

/** The fastest placement that fits, within policy or not. There is one exactly when any strategy finds one. */
export function fastestPlacement(problem: PlacementProblem): Placement | undefined {
  if (constraintConflict(problem) || !hasRoom(problem)) return undefined;
  const grid = searchGrid(problem);
  const stages = minLatency.search(grid, 'fastest', ordersInUse(grid, 'fastest'));
  return stages && placementOf(grid, stages);
}

/** Whether the roomiest nodes could hold the model if it were liquid: the stages of a split take no less than the whole. */
function hasRoom({ nodes, maxStages, numLayers, bytes }: PlacementProblem): boolean {
  const rooms = nodes.map((node) => Math.max(0, roomOn(node))).sort((a, b) => b - a);
  return rooms.slice(0, maxStages).reduce((sum, room) => sum + room, 0) >= bytes(0, numLayers);
}

/** Whether `choosePlacement` selects anything. */
export function hasPlan(problem: PlacementProblem): boolean {
  const fastest = fastestPlacement(problem);
  return fastest !== undefined && isFastEnough(problem, fastest);
}

export function isFastEnough(problem: PlacementProblem, placement: Placement): boolean {
  return placement.secondsPerToken <= (problem.maxSecondsPerToken ?? Number.POSITIVE_INFINITY);
}
