import type { Objective } from '../objective.js';
import type { Placement } from '../placement.js';
import type { SearchGrid } from '../search-grid.js';
import type { SplitStage } from '../split.js';

/** Orders of nodes that other strategies use, for those that search within an order. */
export type Orders = () => readonly (readonly number[])[];

/** One way to choose nodes and layers. Each is pure and deterministic, and keeps memory, caps, pins and stage bounds. */
export interface Strategy {
  /** As in `PlanCandidate.strategy`. */
  readonly name: string;
  /** Undefined when it finds nothing that fits. */
  search(grid: SearchGrid, objective: Objective, orders: Orders): readonly SplitStage[] | undefined;
  /** Where nothing fits: the best that it could do, to say what is missing. Undefined when not even that is allowed. */
  attempt(grid: SearchGrid): readonly SplitStage[] | undefined;
  /** The measure that it makes least, in seconds; absent where it makes none. */
  least?(placement: Placement): number;
}
