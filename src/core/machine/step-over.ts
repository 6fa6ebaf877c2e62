import type { Hello } from '../../../gen/stageplane/v1/node_agent_service.js';
import { nodeId, type RunId, revision, runId } from '../ids.js';
import { limits } from '../limits.js';
import type { ClusterState, NodeState } from './state.js';

/**
 * The cluster of a store that is older than what others may have seen: a backup that was put back. What came after the
 * copy is lost to us, but agents may hold its stages and launchers its revisions, so nothing of it may be given again
 * (I3, I5, I6, I12). Ids go on as many steps later as there are epochs between: an epoch is never used twice, hence
 * neither is an id, also when one copy is put back twice.
 */
export function stepOver(cluster: ClusterState, epoch: bigint): ClusterState {
  const ids = (epoch - cluster.epoch) * limits.idsPerLostEpoch;
  const nextNodeId = nodeId(cluster.nextNodeId + ids);
  return {
    ...cluster,
    epoch,
    revision: revision(cluster.revision + ids),
    nextRunId: runId(cluster.nextRunId + ids),
    nextNodeId,
    goneNodeId: nodeId(nextNodeId - 1n),
  };
}

/**
 * The epoch to step over to when an agent knows more than the store: a later epoch, this very epoch although this process
 * has not told it of any, or a run that was never created. Undefined when all is as it should be.
 */
export function lostEpoch(
  cluster: ClusterState,
  hello: Hello,
  known: NodeState | undefined,
  everWelcomed: boolean,
): bigint | undefined {
  const ours = hello.clusterId === cluster.clusterId;
  const later = hello.highestEpoch > cluster.epoch;
  // Of a node that is unknown this says nothing: it may have been deleted since it was welcomed.
  const same = ours && hello.highestEpoch === cluster.epoch && known !== undefined && !everWelcomed;
  const unborn = ours && hello.held.some((stage) => stage.runId >= cluster.nextRunId);
  if (!later && !same && !unborn) return undefined;
  return (later ? hello.highestEpoch : cluster.epoch) + limits.lostEpochs;
}

/**
 * How many generations of a run may have been lost with the life that a copy stepped over: its next one goes beyond them
 * (I3). 0 for a run of this life, as no life gives so many ids.
 */
export function lostGenerations(cluster: ClusterState, id: RunId): number {
  const epochs = (cluster.nextRunId - id) / limits.idsPerLostEpoch;
  return epochs < limits.lostEpochs ? 0 : Number(epochs);
}
