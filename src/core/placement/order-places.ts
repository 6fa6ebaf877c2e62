import { roomOn } from './measure.js';
import type { PlacementProblem } from './placement-problem.js';

type Order = (a: number, b: number) => number;

/** Places by node id; of one node, as given. */
export function byNodeId({ nodes }: PlacementProblem): Order {
  return (a, b) => (nodes[a]!.nodeId < nodes[b]!.nodeId ? -1 : nodes[a]!.nodeId > nodes[b]!.nodeId ? 1 : a - b);
}

/** Every place by memory for a stage, the roomiest first; ties by node id. */
export function roomiestFirst(problem: PlacementProblem): number[] {
  const rooms = problem.nodes.map(roomOn);
  const nodeId = byNodeId(problem);
  return rooms.map((_, place) => place).sort((a, b) => rooms[b]! - rooms[a]! || nodeId(a, b));
}

/** Places by memory bandwidth, the fastest first; ties by node id. */
export function bySpeed(problem: PlacementProblem): Order {
  const { nodes } = problem;
  const nodeId = byNodeId(problem);
  return (a, b) => nodes[a]!.secondsPerByte - nodes[b]!.secondsPerByte || nodeId(a, b);
}
