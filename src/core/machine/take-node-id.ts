import { type NodeId, nodeId } from '../ids.js';
import type { Draft } from './draft.js';

/** @param pinned 0 for the next one */
export function takeNodeId(draft: Draft, pinned = 0n): NodeId {
  const id = pinned === 0n ? draft.cluster.nextNodeId : nodeId(pinned);
  // Ids are never reused, so the counter steps over a pinned one.
  if (id >= draft.cluster.nextNodeId) draft.cluster = { ...draft.cluster, nextNodeId: nodeId(id + 1n) };
  return id;
}
