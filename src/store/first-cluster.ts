import { nodeId, ORCHESTRATOR_NODE_ID, revision, runId } from '../core/ids.js';
import type { ClusterState } from '../core/machine/state.js';

/** A cluster before its first start. Epoch 0 belongs to no orchestrator: each start commits the next one. */
export function firstCluster(clusterId: string): ClusterState {
  return {
    clusterId,
    epoch: 0n,
    revision: revision(0n),
    nextRunId: runId(1n),
    nextNodeId: nodeId(ORCHESTRATOR_NODE_ID + 1n),
    goneNodeId: ORCHESTRATOR_NODE_ID,
  };
}
