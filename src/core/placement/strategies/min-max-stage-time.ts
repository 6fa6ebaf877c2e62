import { overload, stageSeconds } from '../measure.js';
import { searchSplits } from '../search-splits.js';
import type { Strategy } from './strategy.js';

/** Least time of the slowest stage: most tokens per second when many conversations fill the pipeline. */
export const minMaxStageTime: Strategy = {
  name: 'min-max-stage-time',
  search: (grid, _objective, orders) => searchSplits(grid, stageSeconds(grid, 'max'), orders)?.stages,
  attempt: (grid) => searchSplits(grid, overload(grid))?.stages,
  least: ({ slowestStageSeconds }) => slowestStageSeconds,
};
