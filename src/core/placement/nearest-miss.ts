import { limits } from '../limits.js';
import { constraintConflict } from './constraint-conflict.js';
import { hasPlan } from './has-plan.js';
import { bytesOf } from './measure.js';
import { roomiestFirst } from './order-places.js';
import type { PlacementNode, PlacementProblem } from './placement-problem.js';
import { searchGrid } from './search-grid.js';
import { searchSplits } from './search-splits.js';

/** Bytes more on one node that make a plan. Where the search is exact one byte less does not. */
export interface NearestMiss {
  readonly node: PlacementNode;
  readonly bytes: number;
}

/**
 * The smallest grant of memory to one node that makes a plan, of a problem that has none; undefined when memory on one
 * node is not what is missing. Looks at every node, or at the 8 roomiest when there are more.
 */
export function nearestMiss(problem: PlacementProblem): NearestMiss | undefined {
  const places = roomiestFirst(problem).slice(0, limits.nearestMissNodes);
  const misses = places
    .map((place) => ({ place, bytes: bytesMissing(problem, place) ?? Number.POSITIVE_INFINITY }))
    .sort((a, b) => a.bytes - b.bytes);
  let best: NearestMiss | undefined;
  for (const { place, bytes } of misses) {
    // What the best split lacks is the least that any grant can be, and too slow a split takes a larger one.
    if (best && bytes >= best.bytes) break;
    const least = smallestGrant(
      (extra) => hasPlan(withMemory(problem, place, extra)),
      [bytes, wholeModelOn(problem, place)],
    );
    if (least !== undefined && least < (best?.bytes ?? Number.POSITIVE_INFINITY)) {
      best = { node: problem.nodes[place]!, bytes: least };
    }
  }
  return best;
}

/** Bytes, 0 or more, that one more node must be able to give, else like `node`, for a plan; undefined when none helps. */
export function smallestNewNode(problem: PlacementProblem, node: PlacementNode): number | undefined {
  const place = problem.nodes.length;
  const larger = { ...problem, nodes: [...problem.nodes, { ...node, usable: 0 }] };
  // A number of stages can be all that was missing.
  if (hasPlan(larger)) return 0;
  const bytes = bytesMissing(larger, place) ?? Number.POSITIVE_INFINITY;
  return smallestGrant((extra) => hasPlan(withMemory(larger, place, extra)), [bytes, wholeModelOn(larger, place)]);
}

/** What the best split for it lacks on this node, all others staying as they are; undefined when no split would do. */
function bytesMissing(problem: PlacementProblem, place: number): number | undefined {
  // The search counts on constraints that agree, and where they do not, memory is not what is missing.
  if (constraintConflict(problem)) return undefined;
  const roomy = withMemory(problem, place, wholeModelOn(problem, place));
  // Constraints that contradict each other do so whatever memory there is; a pin may name a place that is not there.
  if (constraintConflict(roomy)) return undefined;
  const grid = searchGrid(roomy);
  const split = searchSplits(grid, bytesOf(grid, roomy.nodes[place]!));
  return split && split.value - problem.nodes[place]!.usable;
}

function wholeModelOn(problem: PlacementProblem, place: number): number {
  const { overhead, usable } = problem.nodes[place]!;
  return Math.max(0, problem.bytes(0, problem.numLayers) + overhead - usable);
}

function withMemory(problem: PlacementProblem, place: number, extra: number): PlacementProblem {
  const nodes = problem.nodes.map((node, at) => (at === place ? { ...node, usable: node.usable + extra } : node));
  return { ...problem, nodes };
}

/**
 * A grant that suffices, knowing that none does not: the search itself decides, by bisection below the first upper bound
 * that suffices. Where the bound is already the least, as it is for an exact search, that takes two looks; elsewhere the
 * looks are bounded, and the grant is within a hundredth of that bound above the least.
 */
function smallestGrant(suffices: (bytes: number) => boolean, bounds: readonly number[]): number | undefined {
  const bound = bounds.find((bytes) => Number.isSafeInteger(bytes) && bytes > 0 && suffices(bytes));
  if (bound === undefined || !suffices(bound - 1)) return bound;
  let [low, high] = [0, bound - 1];
  for (let look = 0; look < limits.grantLooks && high - low > 1; look++) {
    const middle = low + Math.floor((high - low) / 2);
    if (suffices(middle)) high = middle;
    else low = middle;
  }
  return high;
}
