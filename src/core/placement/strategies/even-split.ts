import { placePerStage, roomiestPlaces } from '../arrange-places.js';
import { roomOn } from '../measure.js';
import { byNodeId } from '../order-places.js';
import type { SearchGrid } from '../search-grid.js';
import type { SplitStage } from '../split.js';
import { fewestConceivable } from './balance-by-vram.js';
import type { Strategy } from './strategy.js';

/** As many layers everywhere as the cuts allow, by ascending node id, on the fewest nodes on which that fits. */
export const evenSplit: Strategy = {
  name: 'even-split',
  search: (grid) => {
    for (let count = fewestConceivable(grid); count <= grid.maxStages; count++) {
      const stages = evenStages(grid, count);
      if (stages.every((stage) => fits(grid, stage))) return stages;
    }
    return undefined;
  },
  attempt: (grid) => evenStages(grid, grid.maxStages),
};

/** Stage `i` of `n` starts at the cut nearest to layer `floor(L * i / n)`, the lower of two, and after the one before. */
function evenStages(grid: SearchGrid, count: number): SplitStage[] {
  const { units, layerAt, problem } = grid;
  const order = placePerStage(grid, roomiestPlaces(grid, count).sort(byNodeId(problem)));
  const starts = [0];
  for (let stage = 1; stage < order.length; stage++) {
    const wanted = Math.floor((problem.numLayers * stage) / order.length);
    const last = units - (order.length - stage);
    let start = starts.at(-1)! + 1;
    while (start < last && Math.abs(layerAt[start + 1]! - wanted) < Math.abs(layerAt[start]! - wanted)) start++;
    starts.push(start);
  }
  return order.map((node, stage) => ({ node, start: starts[stage]!, end: starts[stage + 1] ?? units }));
}

function fits({ problem, bytes, bytesRead, width, layerAt }: SearchGrid, { node, start, end }: SplitStage): boolean {
  const place = problem.nodes[node]!;
  const at = end * width + start;
  const layers = layerAt[end]! - layerAt[start]!;
  return bytes[at]! <= roomOn(place) && layers <= (place.maxLayers ?? layers) && !Number.isNaN(bytesRead[at]);
}
