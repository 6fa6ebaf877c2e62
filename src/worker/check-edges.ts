import { EdgeKind, type ObjectSpec, type RingSpec } from '../../gen/stageplane/v1/plan.js';
import type { ProvisionStage, StageSettings } from '../../gen/stageplane/v1/provision.js';
import type { PrepareStage } from '../../gen/stageplane/v1/worker.js';
import { limits } from '../core/limits.js';
import type { EdgeContract } from './edge/edge-contract.js';
import { inputRowBytes, type StageShape } from './stage-loop-steps.js';

/** One end of an edge: where it is on this machine, and what was planned. */
export interface EdgeEnd {
  readonly socket: string;
  readonly contract: EdgeContract;
  /** A token edge: the token endpoint at its other end may go, and another one come. */
  readonly reopens: boolean;
}

/** Both edges of a stage, and what its loop must know to use them. */
export interface CheckedEdges {
  readonly kind: 'edges';
  readonly inbound: EdgeEnd;
  readonly outbound: EdgeEnd;
  readonly shape: StageShape;
}

export type EdgesCheck =
  | CheckedEdges
  /** No sockets: the stage is ready once it is loaded. */
  | { readonly kind: 'none' }
  /** `problem` goes on a sentence about the prepare command. */
  | { readonly kind: 'malformed'; readonly problem: string };

/** Checks the sockets of a prepare command and the edges that belong to them. */
export function checkEdges(command: PrepareStage, provision: ProvisionStage, settings: StageSettings): EdgesCheck {
  const { inboundSocket, outboundSocket, generation, producerNodeId } = command;
  if (inboundSocket === '' && outboundSocket === '') return { kind: 'none' };
  const problem = problemOfSocket(inboundSocket) ?? problemOfSocket(outboundSocket) ?? problemOfEdges(provision);
  if (problem !== undefined) return { kind: 'malformed', problem };
  const { runId, nodeId, inbound, outbound, model, layerStart, layerEndExclusive } = provision;
  const isTail = layerEndExclusive === settings.totalLayers;
  const shape = { generation, layerStart, isTail, hiddenDim: model!.hiddenDim };
  const identity = { runId, generation };
  const taken = contractOf({ ...identity, edgeId: inbound!.edgeId, producerNodeId }, inbound!);
  // A larger object could not be run, so that there is no reason to take in its bytes (I16).
  const maxExtent = Math.min(taken.maxExtent, settings.microBatch * inputRowBytes(shape));
  const given = contractOf({ ...identity, edgeId: outbound!.edgeId, producerNodeId: nodeId }, outbound!);
  return {
    kind: 'edges',
    inbound: { socket: inboundSocket, contract: { ...taken, maxExtent }, reopens: isTokenEdge(inbound!) },
    outbound: { socket: outboundSocket, contract: given, reopens: isTokenEdge(outbound!) },
    shape,
  };
}

function problemOfSocket(path: string): string | undefined {
  if (path === '') return 'has one socket and not the other';
  const bytes = Buffer.byteLength(path);
  return bytes > limits.socketPathBytes
    ? `has a socket path of ${bytes} bytes, ${limits.socketPathBytes} at most are possible`
    : undefined;
}

function problemOfEdges({ stageIndex, stageCount, inbound, outbound, model }: ProvisionStage): string | undefined {
  const inboundKind = stageIndex === 0 ? EdgeKind.EDGE_KIND_TOKEN_IN : EdgeKind.EDGE_KIND_ACTIVATION;
  const outboundKind = stageIndex === stageCount - 1 ? EdgeKind.EDGE_KIND_TOKEN_OUT : EdgeKind.EDGE_KIND_ACTIVATION;
  if (model === undefined || model.hiddenDim === 0)
    return 'has sockets, but its provision does not say how wide rows are';
  for (const [name, edge, kind] of [
    ['inbound', inbound, inboundKind],
    ['outbound', outbound, outboundKind],
  ] as const) {
    if (edge?.objectSpec === undefined || edge.ringSpec === undefined) return `has sockets, but no whole ${name} edge`;
    if (edge.kind !== kind)
      return `gives stage ${stageIndex} of ${stageCount} an ${name} edge of ${EdgeKind[edge.kind]}`;
    if (edge.objectSpec.alignment === 0) return `has an ${name} edge with alignment 0`;
  }
  return undefined;
}

function isTokenEdge({ kind }: { kind: EdgeKind }): boolean {
  return kind === EdgeKind.EDGE_KIND_TOKEN_IN || kind === EdgeKind.EDGE_KIND_TOKEN_OUT;
}

function contractOf(
  identity: Pick<EdgeContract, 'runId' | 'generation' | 'edgeId' | 'producerNodeId'>,
  { objectSpec, ringSpec }: { objectSpec?: ObjectSpec | undefined; ringSpec?: RingSpec | undefined },
): EdgeContract {
  return {
    ...identity,
    maxExtent: Number(objectSpec!.maxExtent),
    alignment: objectSpec!.alignment,
    capacity: Number(ringSpec!.dataCapacity),
  };
}
