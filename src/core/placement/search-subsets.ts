import { extendSplits, readChoice, stageCosts } from './extend-splits.js';
import type { Measure } from './measure.js';
import type { SearchGrid } from './search-grid.js';
import type { Split, SplitStage } from './split.js';

/**
 * The best split below `bound` over every choice and order of up to 8 nodes: a dynamic programme over (subset of nodes,
 * units covered). `nodes` are indices into the problem's. O(2^n * n * units^2).
 */
export function searchSubsets(
  grid: SearchGrid,
  nodes: readonly number[],
  measure: Measure,
  bound: number,
): Split | undefined {
  const { width, units, minStages, maxStages, pins } = grid;
  const costs = nodes.map((node) => stageCosts(grid, measure, grid.problem.nodes[node]!));
  const subsets = 1 << nodes.length;
  const values = new Float64Array(subsets * width).fill(bound);
  const choices = new Int32Array(subsets * width);
  values[0] = 0;
  let best = { subset: 0, value: bound };
  for (let subset = 1; subset < subsets; subset++) {
    const stages = membersOf(subset);
    if (stages > maxStages) continue;
    const pinned = pins.get(stages - 1);
    for (const [member, cost] of costs.entries()) {
      const bit = 1 << member;
      if (!(subset & bit) || (pinned !== undefined && pinned !== nodes[member])) continue;
      extendSplits(cost, {
        values,
        from: (subset ^ bit) * width,
        to: subset * width,
        choices,
        choicesAt: subset * width,
        tag: member,
        least: stages - 1,
        lowest: stages,
        highest: units - Math.max(0, minStages - stages),
      });
    }
    const value = values[subset * width + units]!;
    if (stages >= minStages && value < best.value) best = { subset, value };
  }
  if (best.subset === 0) return undefined;
  return { value: best.value, stages: walkBack(best.subset, nodes, width, choices) };
}

function walkBack(subset: number, nodes: readonly number[], width: number, choices: Int32Array): SplitStage[] {
  const stages: SplitStage[] = [];
  let [left, end] = [subset, width - 1];
  while (left !== 0) {
    const { start, tag } = readChoice(choices[left * width + end]!)!;
    stages.push({ node: nodes[tag]!, start, end });
    left ^= 1 << tag;
    end = start;
  }
  return stages.reverse();
}

function membersOf(subset: number): number {
  let members = 0;
  for (let rest = subset; rest !== 0; rest &= rest - 1) members++;
  return members;
}
