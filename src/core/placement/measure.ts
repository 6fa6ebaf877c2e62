import type { PlacementNode } from './placement-problem.js';
import type { SearchGrid } from './search-grid.js';

/**
 * What a search makes small: of each stage `weight * factor + constant`, and of all stages the sum or the maximum. Factors
 * and constants are not negative, and weights grow with a stage's length, so costs do.
 */
export interface Measure {
  /** Of each range of units, laid out like the tables of the grid. */
  readonly weights: Float64Array;
  factor(node: PlacementNode): number;
  constant(node: PlacementNode): number;
  /** Bytes that a stage may take on a node, without the node's overhead. */
  limit(node: PlacementNode): number;
  readonly combine: 'sum' | 'max';
}

/** Bytes for the stage itself. */
export function roomOn(node: PlacementNode): number {
  return node.usable - node.overhead;
}

/** Seconds per token: of one conversation as the sum over the stages, of the slowest stage as their maximum. */
export function stageSeconds(grid: SearchGrid, combine: 'sum' | 'max'): Measure {
  return {
    weights: grid.bytesRead,
    factor: (node) => node.secondsPerByte,
    constant: (node) => node.hopSeconds,
    limit: roomOn,
    combine,
  };
}

/** One for each stage: the fewest nodes, whichever they are. */
export function numberOfStages(grid: SearchGrid): Measure {
  return { weights: grid.bytesRead, factor: () => 0, constant: () => 1, limit: roomOn, combine: 'sum' };
}

/** Share of the whole device that a stage takes. */
export function peakUtilisation(grid: SearchGrid): Measure {
  return {
    weights: bytesWhereAllowed(grid),
    factor: (node) => 1 / node.capacity,
    constant: (node) => node.overhead / node.capacity,
    limit: roomOn,
    combine: 'max',
  };
}

/**
 * Layers in proportion to usable memory: of all ways to share `L` layers among nodes of `u` bytes, `l ~ u` is where the sum
 * of `l * l / u` is least.
 */
export function proportionToMemory(grid: SearchGrid): Measure {
  const { width, units, layerAt, bytesRead } = grid;
  const weights = new Float64Array(width * width);
  for (let end = 1; end <= units; end++) {
    for (let start = 0; start < end; start++) {
      const at = end * width + start;
      weights[at] = Number.isNaN(bytesRead[at]) ? Number.NaN : (layerAt[end]! - layerAt[start]!) ** 2;
    }
  }
  return { weights, factor: (node) => 1 / node.usable, constant: () => 0, limit: roomOn, combine: 'sum' };
}

/** How far a stage goes beyond its node, when nothing holds it back: the best that can be done where nothing fits. */
export function overload(grid: SearchGrid): Measure {
  const share = (node: PlacementNode) => 1 / Math.max(1, node.usable);
  return {
    weights: bytesWhereAllowed(grid),
    factor: share,
    constant: (node) => node.overhead * share(node),
    limit: () => Number.POSITIVE_INFINITY,
    combine: 'max',
  };
}

/** Bytes that one node must be able to give, all others staying as they are. */
export function bytesOf(grid: SearchGrid, place: PlacementNode): Measure {
  return {
    weights: bytesWhereAllowed(grid),
    factor: (node) => (node === place ? 1 : 0),
    constant: (node) => (node === place ? node.overhead : 0),
    limit: (node) => (node === place ? Number.POSITIVE_INFINITY : roomOn(node)),
    combine: 'sum',
  };
}

function bytesWhereAllowed({ bytes, bytesRead }: SearchGrid): Float64Array {
  return bytes.map((value, at) => (Number.isNaN(bytesRead[at]) ? Number.NaN : value));
}
