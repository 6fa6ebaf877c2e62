import { bytesOnNode, type PlacementNode, type PlacementProblem } from './placement-problem.js';
import type { SearchGrid } from './search-grid.js';
import type { SplitStage } from './split.js';

/** One stage: the layers `[layerStart, layerEndExclusive)` on a node. */
export interface PlacedStage {
  readonly node: PlacementNode;
  readonly layerStart: number;
  readonly layerEndExclusive: number;
  /** The node's overhead included. */
  readonly bytes: number;
  /** Per token: reading its bytes, and the hop into its node. */
  readonly seconds: number;
}

/** Stages in order, and what they come to. Whether they fit is another question. */
export interface Placement {
  readonly stages: readonly PlacedStage[];
  /** Of one conversation: the sum over the stages. */
  readonly secondsPerToken: number;
  readonly slowestStageSeconds: number;
  /** Largest share of a device's memory that a stage takes. */
  readonly peakUtilisation: number;
}

export function placementOf(grid: SearchGrid, split: readonly SplitStage[]): Placement {
  const { problem, layerAt } = grid;
  const stages = split.map(({ node, start, end }) =>
    placeStage(problem, problem.nodes[node]!, layerAt[start]!, layerAt[end]!),
  );
  return {
    stages,
    secondsPerToken: stages.reduce((sum, { seconds }) => sum + seconds, 0),
    slowestStageSeconds: stages.reduce((most, { seconds }) => Math.max(most, seconds), 0),
    peakUtilisation: stages.reduce((most, { bytes, node }) => Math.max(most, bytes / node.capacity), 0),
  };
}

function placeStage(
  problem: PlacementProblem,
  node: PlacementNode,
  layerStart: number,
  layerEndExclusive: number,
): PlacedStage {
  return {
    node,
    layerStart,
    layerEndExclusive,
    bytes: bytesOnNode(problem, node, layerStart, layerEndExclusive),
    seconds: problem.bytesRead(layerStart, layerEndExclusive) * node.secondsPerByte + node.hopSeconds,
  };
}

/** Bytes that a stage lacks on its node; 0 when it fits. */
export function deficitOf({ bytes, node }: PlacedStage): number {
  return Math.max(0, bytes - node.usable);
}
