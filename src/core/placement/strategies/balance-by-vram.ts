import { largestAtTheEnds, placePerStage, roomiestPlaces } from '../arrange-places.js';
import { type Measure, overload, proportionToMemory, roomOn } from '../measure.js';
import type { SearchGrid } from '../search-grid.js';
import { searchOrder } from '../search-order.js';
import type { SplitStage } from '../split.js';
import type { Strategy } from './strategy.js';

/**
 * The fewest nodes that fit, the roomiest ones: the largest holds the head, the second the embedding, the rest descend
 * between; layers in proportion to usable memory, as far as memory and the model's cuts allow.
 */
export const balanceByVram: Strategy = {
  name: 'balance-by-vram',
  search: (grid) => {
    const measure = proportionToMemory(grid);
    for (let count = fewestConceivable(grid); count <= grid.maxStages; count++) {
      const split = splitOver(grid, count, measure);
      if (split) return split;
    }
    return undefined;
  },
  attempt: (grid) => splitOver(grid, grid.maxStages, overload(grid)),
};

/** Stages at least, if memory were all one: of the roomiest nodes, as many as could hold the model. */
export function fewestConceivable({
  problem,
  roomiest,
  bytes,
  units,
  width,
  minStages,
  maxStages,
}: SearchGrid): number {
  let left = bytes[units * width]!;
  let count = 0;
  for (; count <= maxStages && left > 0; count++) {
    const node = problem.nodes[roomiest[count] ?? -1];
    left -= node ? roomOn(node) : 0;
  }
  return Math.max(minStages, count);
}

function splitOver(grid: SearchGrid, count: number, measure: Measure): readonly SplitStage[] | undefined {
  const places = placePerStage(grid, largestAtTheEnds(roomiestPlaces(grid, count)));
  const turns = places.map((node) => ({ node }));
  return searchOrder(grid, turns, measure, { minStages: count, maxStages: count })?.stages;
}
