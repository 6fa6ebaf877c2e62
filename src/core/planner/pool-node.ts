import type { EngineOffer } from '../../../gen/stageplane/v1/node.js';
import type { NodeId } from '../ids.js';

/** A node as the planner sees it. */
export interface PoolNode {
  readonly nodeId: NodeId;
  readonly name: string;
  readonly engines: readonly EngineOffer[];
  /** Why it takes no new stage (I14); absent when it does. */
  readonly obstacle?: NodeObstacle;
}

export interface NodeObstacle {
  readonly reason: 'cordoned' | 'lost' | 'not-connected' | 'full';
  /** One sentence that names the node and what to do next. */
  readonly message: string;
}
