import type { Objective } from '../objective.js';
import type { SearchGrid } from '../search-grid.js';
import { balanceByVram } from './balance-by-vram.js';
import { evenSplit } from './even-split.js';
import { singleNode } from './single-node.js';
import type { Orders } from './strategy.js';

/**
 * The orders of the strategies that do not search one. Who searches within them too is never worse than they are. Found
 * when first asked for: where every order is looked at, nobody asks.
 */
export function ordersInUse(grid: SearchGrid, objective: Objective): Orders {
  let orders: readonly (readonly number[])[] | undefined;
  return () => {
    orders ??= [singleNode, balanceByVram, evenSplit].flatMap((strategy) => {
      const stages = strategy.search(grid, objective, () => []);
      return stages ? [stages.map(({ node }) => node)] : [];
    });
    return orders;
  };
}
