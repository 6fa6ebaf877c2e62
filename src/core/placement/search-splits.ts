import { limits } from '../limits.js';
import { largestAtTheEnds, turnsOf } from './arrange-places.js';
import type { Measure } from './measure.js';
import { bySpeed } from './order-places.js';
import type { SearchGrid } from './search-grid.js';
import { type StageBounds, searchOrder, stageCounting } from './search-order.js';
import { searchSubsets } from './search-subsets.js';
import type { Split } from './split.js';
import type { Orders } from './strategies/strategy.js';
import { worthwhilePlaces } from './worthwhile-places.js';

/**
 * The split that a measure makes least, within memory, caps, pins and stage bounds. Exact when at most 8 nodes are worth
 * looking at. Above that the best over the bandwidth order in both directions, the order of memory, and `further` orders,
 * every one exact in itself.
 */
export function searchSplits(grid: SearchGrid, measure: Measure, further: Orders = () => []): Split | undefined {
  if (grid.minStages > grid.maxStages) return undefined;
  let best: Split | undefined;
  const improve = (search: (bound: number) => Split | undefined) => {
    best = search(best?.value ?? Number.POSITIVE_INFINITY) ?? best;
  };
  const searchTurns = (order: readonly number[]) => {
    improve((bound) => searchOrder(grid, turnsOf(grid, order), measure, grid, bound));
  };
  // Short ones, and each bounds the searches after it.
  for (const order of further()) searchTurns(order);
  const places = worthwhilePlaces(grid, measure);
  if (places.length <= limits.placementSubsetNodes) improve((bound) => searchSubsets(grid, places, measure, bound));
  else for (const order of ownOrders(grid, places)) searchTurns(order);
  return best;
}

/** Fast nodes first gives the head to a slow one, fast nodes last gives it to a fast one. */
function ownOrders(grid: SearchGrid, places: readonly number[]): number[][] {
  const most = mostTurns(grid, grid);
  const fast = places.toSorted(bySpeed(grid.problem)).slice(0, most);
  const kept = new Set(places);
  const roomy = grid.roomiest.filter((place) => kept.has(place)).slice(0, most);
  return [fast, fast.toReversed(), largestAtTheEnds(roomy)];
}

/** Nodes of an order that the work allows: counting stages multiplies it. At least as many as there must be. */
function mostTurns(grid: SearchGrid, bounds: StageBounds): number {
  const { top } = stageCounting(grid, bounds, grid.problem.nodes.length);
  const perTurn = ((top + 1) * grid.units * grid.units) / 2;
  return Math.max(bounds.minStages, Math.floor(limits.placementSteps / perTurn));
}
