import { EdgeKind } from '../../../gen/stageplane/v1/plan.js';
import type { WholeEndpoint } from './read-edge.js';

/** Which edge it is and what it connects. */
export interface EdgeSkeleton {
  edgeId: bigint;
  kind: EdgeKind;
  producer: WholeEndpoint;
  consumer: WholeEndpoint;
}

/** Edge that stage `stageIndex` consumes. Edges count from 1: token-in, activations in stage order, token-out. */
export function inboundEdgeOf(stageIndex: number): bigint {
  return BigInt(stageIndex + 1);
}

/** Edge that stage `stageIndex` produces. */
export function outboundEdgeOf(stageIndex: number): bigint {
  return BigInt(stageIndex + 2);
}

/**
 * The edge at `position` of a run's edges: orchestrator to stage 0, stage i to stage i+1, last stage to orchestrator.
 * `stages` are in stage order; at least one.
 */
export function edgeAt(
  position: number,
  orchestratorNodeId: bigint,
  stages: readonly { nodeId: bigint }[],
): EdgeSkeleton {
  const isFirst = position === 0;
  const isLast = position === stages.length;
  return {
    edgeId: BigInt(position + 1),
    kind: isFirst ? EdgeKind.EDGE_KIND_TOKEN_IN : isLast ? EdgeKind.EDGE_KIND_TOKEN_OUT : EdgeKind.EDGE_KIND_ACTIVATION,
    producer: isFirst ? orchestratorEnd(orchestratorNodeId) : stageEnd(stages[position - 1]!.nodeId, position - 1),
    consumer: isLast ? orchestratorEnd(orchestratorNodeId) : stageEnd(stages[position]!.nodeId, position),
  };
}

function orchestratorEnd(nodeId: bigint): WholeEndpoint {
  return { endpoint: { $case: 'orchestrator', value: { nodeId } } };
}

function stageEnd(nodeId: bigint, stageIndex: number): WholeEndpoint {
  return { endpoint: { $case: 'stage', value: { nodeId, stageIndex } } };
}
