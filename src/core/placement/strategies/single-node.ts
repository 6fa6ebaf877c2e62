import { compareBy, type Objective } from '../objective.js';
import { byNodeId } from '../order-places.js';
import { type Placement, placementOf } from '../placement.js';
import type { SearchGrid } from '../search-grid.js';
import type { SplitStage } from '../split.js';
import type { Strategy } from './strategy.js';

/** The whole model on the node that the objective likes best; ties by node id. */
export const singleNode: Strategy = {
  name: 'single-node',
  search: (grid, objective) => (grid.minStages > 1 ? undefined : bestNode(grid, objective)),
  attempt: (grid) => {
    const roomiest = grid.pins.get(0) ?? grid.roomiest[0];
    return roomiest === undefined ? undefined : wholeModelOn(grid, roomiest);
  },
};

function bestNode(grid: SearchGrid, objective: Objective): SplitStage[] | undefined {
  const better = compareBy(objective);
  let best: { place: number; placement: Placement } | undefined;
  for (const place of candidates(grid).sort(byNodeId(grid.problem))) {
    const node = grid.problem.nodes[place]!;
    const placement = placementOf(grid, wholeModelOn(grid, place));
    if (placement.stages[0]!.bytes > node.usable) continue;
    if ((node.maxLayers ?? grid.problem.numLayers) < grid.problem.numLayers) continue;
    if (!best || better(placement, best.placement) < 0) best = { place, placement };
  }
  return best && wholeModelOn(grid, best.place);
}

function candidates({ problem, pins }: SearchGrid): number[] {
  const pinned = pins.get(0);
  return pinned === undefined ? problem.nodes.map((_, place) => place) : [pinned];
}

function wholeModelOn({ units }: SearchGrid, node: number): SplitStage[] {
  return [{ node, start: 0, end: units }];
}
