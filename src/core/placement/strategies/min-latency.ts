import { overload, stageSeconds } from '../measure.js';
import { searchSplits } from '../search-splits.js';
import type { Strategy } from './strategy.js';

/** Least sum of stage times and hops: most tokens per second of one conversation. */
export const minLatency: Strategy = {
  name: 'min-latency',
  search: (grid, _objective, orders) => searchSplits(grid, stageSeconds(grid, 'sum'), orders)?.stages,
  attempt: (grid) => searchSplits(grid, overload(grid))?.stages,
  least: ({ secondsPerToken }) => secondsPerToken,
};
