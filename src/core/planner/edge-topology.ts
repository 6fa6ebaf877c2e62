import { EdgeKind } from '../../../gen/stageplane/v1/plan.js';
import type { WholeEndpoint } from './planner-shapes.js';

/** Which edge it is and what it connects. */
export interface EdgeSkeleton {
  edgeId: bigint;
  kind: EdgeKind;
  producer: WholeEndpoint;
  consumer: WholeEndpoint;
}

/** Edge that stage `stageIndex` consumes. Edges count from 1: token-in, activations in stage order, token-out. */
export function inboundEdgeOf(stageIndex: number): bigint {
  return BigInt(stageIndex) + 1n;
}

/** Edge that stage `stageIndex` produces. */
export function outboundEdgeOf(stageIndex: number): bigint {
  return BigInt(stageIndex) + 2n;
}

/**
 * The edges of a run, in order: orchestrator to stage 0, stage i to stage i+1, last stage to orchestrator. `stageNodes`
 * has the node id of each stage, in stage order; at least one.
 */
export function edgeTopology(orchestratorNodeId: bigint, stageNodes: readonly bigint[]): EdgeSkeleton[] {
  const stageCount = stageNodes.length;
  const endpoint = (stageIndex: number): WholeEndpoint =>
    stageIndex >= 0 && stageIndex < stageCount
      ? {
          endpoint: {
            $case: 'stage',
            value: { nodeId: stageNodes[stageIndex]!, stageIndex },
          },
        }
      : {
          endpoint: {
            $case: 'orchestrator',
            value: { nodeId: orchestratorNodeId },
          },
        };
  return Array.from({ length: stageCount + 1 }, (_, position) => ({
    edgeId: BigInt(position) + 1n,
    kind: edgeKind(position, stageCount),
    producer: endpoint(position - 1),
    consumer: endpoint(position),
  }));
}

function edgeKind(position: number, stageCount: number): EdgeKind {
  if (position === 0) return EdgeKind.EDGE_KIND_TOKEN_IN;
  return position === stageCount ? EdgeKind.EDGE_KIND_TOKEN_OUT : EdgeKind.EDGE_KIND_ACTIVATION;
}
