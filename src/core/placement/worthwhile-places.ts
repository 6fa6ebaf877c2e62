import type { Measure } from './measure.js';
import type { PlacementNode } from './placement-problem.js';
import type { SearchGrid } from './search-grid.js';

/**
 * Indices of the nodes that a search over every order need look at. A node is left out when it holds not one unit, or when
 * as many others as there may be stages are in nothing worse than it: whatever places a stage on it can place the stage
 * on one of those that is free, and loses nothing. So leaving it out costs no optimum. Pinned nodes stay.
 */
export function worthwhilePlaces(grid: SearchGrid, measure: Measure): number[] {
  const { nodes } = grid.problem;
  const pinned = new Set(grid.pins.values());
  const smallest = smallestUnit(grid);
  const free = nodes
    .map((node, place) => ({ place, ...traits(node, measure) }))
    .filter(({ place, limit }) => !pinned.has(place) && limit >= smallest)
    // Whoever is in nothing worse comes before.
    .sort((a, b) => b.limit - a.limit || a.factor - b.factor || a.constant - b.constant || b.layers - a.layers);
  const kept = free.filter((candidate, at) => {
    let better = 0;
    for (let other = 0; other < at && better < grid.maxStages; other++) {
      if (isNoWorse(free[other]!, candidate)) better++;
    }
    return better < grid.maxStages;
  });
  return [...pinned, ...kept.map(({ place }) => place)].sort((a, b) => a - b);
}

interface Traits {
  readonly factor: number;
  readonly constant: number;
  readonly limit: number;
  readonly layers: number;
}

function traits(node: PlacementNode, measure: Measure): Traits {
  return {
    factor: measure.factor(node),
    constant: measure.constant(node),
    limit: measure.limit(node),
    layers: node.maxLayers ?? Number.POSITIVE_INFINITY,
  };
}

function isNoWorse(a: Traits, b: Traits): boolean {
  return a.limit >= b.limit && a.factor <= b.factor && a.constant <= b.constant && a.layers >= b.layers;
}

function smallestUnit({ bytes, units, width }: SearchGrid): number {
  let smallest = Number.POSITIVE_INFINITY;
  for (let unit = 0; unit < units; unit++) smallest = Math.min(smallest, bytes[(unit + 1) * width + unit]!);
  return smallest;
}
