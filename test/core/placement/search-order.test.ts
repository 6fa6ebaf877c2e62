import fc from 'fast-check';
import { expect, it } from 'vitest';
import { turnsOf } from '../../../src/core/placement/arrange-places.js';
import { constraintConflict } from '../../../src/core/placement/constraint-conflict.js';
import { stageSeconds } from '../../../src/core/placement/measure.js';
import { searchGrid } from '../../../src/core/placement/search-grid.js';
import { searchOrder } from '../../../src/core/placement/search-order.js';
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
