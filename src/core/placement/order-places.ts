import { roomOn } from './measure.js';
import type { SearchGrid } from './search-grid.js';

type Order = (a: number, b: number) => number;

/** Places by node id; of one node, as given. */
export function byNodeId({ problem: { nodes } }: SearchGrid): Order {
  return (a, b) => (nodes[a]!.nodeId < nodes[b]!.nodeId ? -1 : nodes[a]!.nodeId > nodes[b]!.nodeId ? 1 : a - b);
}

/** Places by memory for a stage, the roomiest first; ties by node id. */
export function byRoom(grid: SearchGrid): Order {
  const { nodes } = grid.problem;
  const nodeId = byNodeId(grid);
  return (a, b) => roomOn(nodes[b]!) - roomOn(nodes[a]!) || nodeId(a, b);
}

/** Places by memory bandwidth, the fastest first; ties by memory. */
export function bySpeed(grid: SearchGrid): Order {
  const { nodes } = grid.problem;
  const room = byRoom(grid);
  return (a, b) => nodes[a]!.secondsPerByte - nodes[b]!.secondsPerByte || room(a, b);
}
