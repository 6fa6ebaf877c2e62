/** Whether a node is in a pool. Looked for first where it stands if the pool is in the order of the placements. */
export type NodePool = (nodeId: bigint, likelyAt: number) => boolean;

/** Placements mostly name the pool's nodes in the pool's own order; only others pay for an index of it. */
export function nodePool(nodeIds: readonly bigint[]): NodePool {
  let index: ReadonlySet<bigint> | undefined;
  return (nodeId, likelyAt) => {
    if (nodeIds[likelyAt] === nodeId) return true;
    index ??= new Set(nodeIds);
    return index.has(nodeId);
  };
}
