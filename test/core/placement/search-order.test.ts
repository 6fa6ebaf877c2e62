import fc from 'fast-check';
import { expect, it } from 'vitest';
import { turnsOf } from '../../../src/core/placement/arrange-places.js';
import { constraintConflict } from '../../../src/core/placement/constraint-conflict.js';
import { stageSeconds } from '../../../src/core/placement/measure.js';
import { searchGrid } from '../../../src/core/placement/search-grid.js';
import { searchOrder } from '../../../src/core/placement/search-order.js';
import { searchSplits } from '../../../src/core/placement/search-splits.js';
import { leastOf } from './every-placement.js';
import { anyProblem } from './sample-problem.js';

const problems = anyProblem({ maxNodes: 6, maxLayers: 6 });

it.each([
  ['sum', 'secondsPerToken'],
  ['max', 'slowestStageSeconds'],
] as const)(
  'one order gives the least %s of every choice of its nodes and every split, pinned ones at any turn',
  (combine, measure) => {
    fc.assert(
      fc.property(problems, (problem) => {
        if (constraintConflict(problem)) return;
        const grid = searchGrid(problem);
        const order = problem.nodes.map((_, place) => place);
        const split = searchOrder(grid, turnsOf(grid, order), stageSeconds(grid, combine), grid);
        const pinned = new Set(problem.pins.values());
        const inOrder = problem.nodes.filter(({ nodeId }) => !pinned.has(nodeId));
        expect(split?.value ?? Number.POSITIVE_INFINITY).toBe(leastOf(problem, measure, inOrder));
      }),
      { numRuns: 600 },
    );
  },
);

it('a search is never worse than within an order that it is given, however odd', () => {
  const wide = anyProblem({ minNodes: 11, maxNodes: 14, maxLayers: 9 });
  fc.assert(
    fc.property(wide, fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })), (problem, lots) => {
      if (constraintConflict(problem)) return;
      const grid = searchGrid(problem);
      const lot = problem.nodes.map(() => lots.next().value!);
      const order = problem.nodes.map((_, place) => place).sort((a, b) => lot[a]! - lot[b]!);
      const measure = stageSeconds(grid, 'max');
      const given = searchOrder(grid, turnsOf(grid, order), measure, grid);
      const split = searchSplits(grid, measure, () => [order]);
      if (given) expect(split?.value).toBeLessThanOrEqual(given.value);
    }),
    { numRuns: 500 },
  );
});
