import { extendSplits, readChoice, type StageCosts, stageCosts } from './extend-splits.js';
import type { Measure } from './measure.js';
import type { SearchGrid } from './search-grid.js';
import type { Split, SplitStage } from './split.js';

/** Tags of choices: whether the stage before was counted lower. */
const [ONE_MORE, SAME_COUNT] = [0, 1];

/** A node's turn; `stage` when it is pinned there. A pinned node may have several turns: only one stage is its own. */
export interface Turn {
  readonly node: number;
  readonly stage?: number;
}

export interface StageBounds {
  readonly minStages: number;
  readonly maxStages: number;
}

/**
 * How far stages are counted. Not at all when no bound asks for it; up to `top` when only a least number does, which then
 * stands for "that many or more"; to the end when there is a most.
 */
export interface StageCounting {
  readonly top: number;
  readonly saturates: boolean;
}

export function stageCounting(grid: SearchGrid, { minStages, maxStages }: StageBounds, turns: number): StageCounting {
  if (maxStages < Math.min(turns, grid.units)) return { top: maxStages, saturates: false };
  return { top: minStages > 1 || grid.pins.size > 0 ? minStages : 0, saturates: true };
}

/** A turn and the counts of stages that it could lead to, with a row of choices for each. */
interface CountedTurn {
  readonly node: number;
  readonly isPinned: boolean;
  readonly low: number;
  readonly high: number;
  /** Where its rows begin among the choices of the search. */
  readonly choicesAt: number;
}

/**
 * The best split below `bound` whose nodes come in the order of `turns`, each taken or left out: a dynamic programme over
 * (turns, stages, units covered). O(turns * counted stages * units^2).
 */
export function searchOrder(
  grid: SearchGrid,
  turns: readonly Turn[],
  measure: Measure,
  bounds: StageBounds,
  bound = Number.POSITIVE_INFINITY,
): Split | undefined {
  const { width, units } = grid;
  const counting = stageCounting(grid, bounds, turns.length);
  const values = new Float64Array((counting.top + 1) * width).fill(bound);
  values[0] = 0;
  const { counted, rows } = countTurns(turns, bounds, counting, width);
  // One block for all turns: an array of their own would cost each more than its search.
  const choices = new Int32Array(rows * width);
  const state = { counting, minStages: bounds.minStages, values, choices };
  for (const turn of counted) {
    const costs = stageCosts(grid, measure, grid.problem.nodes[turn.node]!);
    takeTurn(turn, costs, state);
  }
  const count = bestCount(values, width, bounds.minStages, counting, bound);
  if (count === undefined) return undefined;
  return { value: values[count * width + units]!, stages: walkBack(counted, choices, count, width) };
}

/** How many stages there can be once a turn was taken, given how many turns are before it and how many come. */
function countTurns(
  turns: readonly Turn[],
  { minStages }: StageBounds,
  { top }: StageCounting,
  width: number,
): { counted: CountedTurn[]; rows: number } {
  let rows = 0;
  const counted = turns.map(({ node, stage }, before) => {
    const needed = minStages - (turns.length - 1 - before);
    const low = top === 0 ? 0 : Math.max(1, needed, stage === undefined ? 0 : stage + 1);
    const high = top === 0 ? 0 : Math.min(top, before + 1, stage === undefined ? top : stage + 1);
    const choicesAt = rows * width;
    rows += Math.max(0, high - low + 1);
    return { node, isPinned: stage !== undefined, low, high, choicesAt };
  });
  return { counted, rows };
}

interface SearchState {
  readonly counting: StageCounting;
  readonly minStages: number;
  readonly values: Float64Array;
  readonly choices: Int32Array;
}

function takeTurn(turn: CountedTurn, costs: StageCosts, { counting, minStages, values, choices }: SearchState): void {
  const { node, isPinned, low, high } = turn;
  const { width, units, pins } = costs.grid;
  const { top, saturates } = counting;
  // From the highest count down, so that no row is extended by this turn before it is extended from.
  for (let count = high; count >= low; count--) {
    const to = count * width;
    const choicesAt = turn.choicesAt + (count - low) * width;
    const lowest = Math.max(1, count);
    const highest = units - (top === 0 ? 0 : Math.max(0, minStages - count));
    if (saturates && count === top && !isPinned) {
      const least = count;
      extendSplits(costs, { values, from: to, to, choices, choicesAt, tag: SAME_COUNT, least, lowest, highest });
    }
    const pinned = pins.get(count - 1);
    if (count > 0 && (pinned === undefined || pinned === node)) {
      const [from, least] = [to - width, count - 1];
      extendSplits(costs, { values, from, to, choices, choicesAt, tag: ONE_MORE, least, lowest, highest });
    }
  }
}

function bestCount(
  values: Float64Array,
  width: number,
  minStages: number,
  { top, saturates }: StageCounting,
  bound: number,
): number | undefined {
  const valueAt = (count: number) => values[count * width + width - 1]!;
  let best: number | undefined;
  for (let count = saturates ? top : minStages; count <= top; count++) {
    const value = valueAt(count);
    if (value < (best === undefined ? bound : valueAt(best))) best = count;
  }
  return best;
}

function walkBack(turns: readonly CountedTurn[], choices: Int32Array, from: number, width: number): SplitStage[] {
  const stages: SplitStage[] = [];
  let [count, end] = [from, width - 1];
  for (const { node, low, high, choicesAt } of turns.toReversed()) {
    if (end === 0) break;
    const isCounted = count >= low && count <= high;
    const choice = isCounted ? readChoice(choices[choicesAt + (count - low) * width + end]!) : undefined;
    if (!choice) continue;
    stages.push({ node, start: choice.start, end });
    end = choice.start;
    if (choice.tag === ONE_MORE) count -= 1;
  }
  return stages.reverse();
}
