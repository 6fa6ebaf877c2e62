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

/** One turn's choices, for the counts of stages that it could lead to. */
interface TurnChoices {
  readonly node: number;
  readonly low: number;
  readonly high: number;
  readonly choices: Int32Array;
}

/**
 * The best split below `bound` whose nodes come in the order of `turns`, each taken or left out: a dynamic programme over (turns, stages,
 * units covered). O(turns * counted stages * units^2).
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
  const taken = turns.map((turn, at) => {
    const costs = stageCosts(grid, measure, grid.problem.nodes[turn.node]!);
    const needed = bounds.minStages - (turns.length - 1 - at);
    return takeTurn(turn, costs, values, { ...counting, minStages: bounds.minStages, needed, taken: at });
  });
  const count = bestCount(values, width, bounds.minStages, counting, bound);
  if (count === undefined) return undefined;
  return { value: values[count * width + units]!, stages: walkBack(taken, count, width) };
}

interface TurnState extends StageCounting {
  readonly minStages: number;
  /** Stages that there must be after this turn, for the turns to come to suffice. */
  readonly needed: number;
  /** Turns before this one. */
  readonly taken: number;
}

function takeTurn({ node, stage }: Turn, costs: StageCosts, values: Float64Array, state: TurnState): TurnChoices {
  const { width, units, pins } = costs.grid;
  const { top, saturates, minStages, needed, taken } = state;
  const low = top === 0 ? 0 : Math.max(1, needed, stage === undefined ? 0 : stage + 1);
  const high = top === 0 ? 0 : Math.min(top, taken + 1, stage === undefined ? top : stage + 1);
  const choices = new Int32Array(Math.max(0, high - low + 1) * width);
  // From the highest count down, so that no row is extended by this turn before it is extended from.
  for (let count = high; count >= low; count--) {
    const to = count * width;
    const highest = units - (top === 0 ? 0 : Math.max(0, minStages - count));
    const row = { values, to, choices, choicesAt: (count - low) * width, lowest: Math.max(1, count), highest };
    if (saturates && count === top && stage === undefined) {
      extendSplits(costs, { ...row, from: to, tag: SAME_COUNT, least: count });
    }
    const pinned = pins.get(count - 1);
    if (count > 0 && (pinned === undefined || pinned === node)) {
      extendSplits(costs, { ...row, from: to - width, tag: ONE_MORE, least: count - 1 });
    }
  }
  return { node, low, high, choices };
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

function walkBack(turns: readonly TurnChoices[], from: number, width: number): SplitStage[] {
  const stages: SplitStage[] = [];
  let [count, end] = [from, width - 1];
  for (const { node, low, high, choices } of turns.toReversed()) {
    if (end === 0) break;
    const choice = count < low || count > high ? undefined : readChoice(choices[(count - low) * width + end]!);
    if (!choice) continue;
    stages.push({ node, start: choice.start, end });
    end = choice.start;
    if (choice.tag === ONE_MORE) count -= 1;
  }
  return stages.reverse();
}
