import type { Measure } from './measure.js';
import type { PlacementNode } from './placement-problem.js';
import type { SearchGrid } from './search-grid.js';

/** Choices carry a tag beside the start of the stage: what else the walk back must know. */
const TAGS = 16;

/** Which units a stage may take and what it costs, on one node. */
export interface StageCosts {
  readonly grid: SearchGrid;
  readonly weights: Float64Array;
  readonly factor: number;
  readonly constant: number;
  readonly limit: number;
  readonly maxLayers: number;
  readonly isMax: boolean;
}

export function stageCosts(grid: SearchGrid, measure: Measure, node: PlacementNode): StageCosts {
  return {
    grid,
    weights: measure.weights,
    factor: measure.factor(node),
    constant: measure.constant(node),
    limit: measure.limit(node),
    maxLayers: node.maxLayers ?? grid.problem.numLayers,
    isMax: measure.combine === 'max',
  };
}

/**
 * Rows of best values and of the choices behind them, each `units + 1` long, by number of units covered. Where nothing was
 * found a value is the bound that it must be below: no stage behind it can come below that.
 */
export interface Extension {
  readonly values: Float64Array;
  /** Offset of the row to go on from, and of the row that is improved; the same one when stages are not counted. */
  readonly from: number;
  readonly to: number;
  readonly choices: Int32Array;
  readonly choicesAt: number;
  /** Below 16. */
  readonly tag: number;
  /** Units covered before this stage at least, and after it at least and at most. */
  readonly least: number;
  readonly lowest: number;
  readonly highest: number;
}

/**
 * Puts one more stage behind every split of a row, where that beats what is there. Ends are taken from the right, so a row
 * may extend itself and hold the node only once. A walk to the left ends where the stage is too large or alone too dear.
 */
export function extendSplits(costs: StageCosts, extension: Extension): void {
  const { weights, factor, constant, limit, maxLayers, isMax } = costs;
  const { bytes, layerAt, width } = costs.grid;
  const { values, from, to, choices, choicesAt, tag, least, lowest, highest } = extension;
  for (let end = highest; end >= lowest; end--) {
    const row = end * width;
    let best = values[to + end]!;
    let choice = 0;
    for (let start = end - 1; start >= least; start--) {
      if (bytes[row + start]! > limit || layerAt[end]! - layerAt[start]! > maxLayers) break;
      const cost = weights[row + start]! * factor + constant;
      if (cost >= best) break;
      const before = values[from + start]!;
      const total = isMax ? Math.max(before, cost) : before + cost;
      if (total < best) {
        best = total;
        choice = (start + 1) * TAGS + tag;
      }
    }
    if (choice === 0) continue;
    values[to + end] = best;
    choices[choicesAt + end] = choice;
  }
}

/** Where the stage behind a choice starts, and the choice's tag; undefined where none was made. */
export function readChoice(choice: number): { start: number; tag: number } | undefined {
  if (choice === 0) return undefined;
  return { start: Math.floor(choice / TAGS) - 1, tag: choice % TAGS };
}
