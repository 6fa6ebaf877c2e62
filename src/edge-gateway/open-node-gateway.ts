import { readdirSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { EdgeGateway } from './edge-gateway.js';
import type { GatewayRefusal } from './gateway-refusal.js';
import { type GatewayConfig, openEdgeGateway } from './open-edge-gateway.js';
import { makeResolver } from './resolver.js';
import {
  edgeRuntimeFolder,
  localSocket,
  nodeSocket,
  ownEdgeFolder,
  prepareRuntimeFolder,
  refuseLongPath,
} from './runtime-folder.js';

/** What an operator says of edges; all of it may be left out on one machine. */
export type EdgeFlags = Pick<GatewayConfig, 'listen' | 'addresses' | 'template' | 'insecureEdges'>;

/** Who a node is. */
export interface EdgeNode {
  readonly clusterId: string;
  readonly nodeId: bigint;
}

export interface NodeGatewayOptions {
  readonly flags: EdgeFlags;
  /** See `ownEdgeFolder`. One process at a time has it. */
  readonly ownerId: string;
  /** Of no matter when the flags say where to listen. */
  readonly node: EdgeNode;
  /** See `GatewayConfig`. */
  readonly credentials?: GatewayConfig['credentials'];
  /** A sentence for the log. */
  onNote(sentence: string): void;
}

export type OpenNodeGatewayOutcome = { readonly kind: 'open'; readonly gateway: EdgeGateway } | GatewayRefusal;

/**
 * Where a node listens and looks for others. Nodes of one machine meet in the cluster's runtime folder. Who says where to
 * listen is told of the others too: a node without an address is then refused, and not looked for where it cannot be.
 */
export function defaultEdgeRoutes(flags: EdgeFlags, { clusterId, nodeId }: EdgeNode): EdgeFlags {
  if (flags.listen !== undefined) return flags;
  const folder = edgeRuntimeFolder(clusterId);
  return {
    ...flags,
    listen: `unix:${nodeSocket(folder, nodeId)}`,
    template: flags.template ?? `unix:${join(folder, '{node_id}.sock')}`,
  };
}

/** What can be refused before it is known who the node is. */
export function checkNodeGateway(flags: EdgeFlags, ownerId: string): GatewayRefusal | undefined {
  const resolver = makeResolver(flags);
  const own = ownEdgeFolder(ownerId);
  return resolver.kind === 'refused' ? resolver : refuseFolder(own, localSocket(own));
}

/** Opens a node's gateway, and removes the sockets that an owner who was killed has left. */
export async function openNodeGateway(options: NodeGatewayOptions): Promise<OpenNodeGatewayOutcome> {
  const { flags, ownerId, node, credentials, onNote } = options;
  const own = ownEdgeFolder(ownerId);
  const refusal = refuseFolder(own, localSocket(own)) ?? (flags.listen === undefined ? refuseShared(node) : undefined);
  if (refusal !== undefined) return refusal;
  const routes = defaultEdgeRoutes(flags, node);
  const opened = await openEdgeGateway({ ...routes, credentials, localSocket: localSocket(own), onNote });
  // Not before: only who has the local socket knows that nobody else uses the folder.
  if (opened.kind === 'open') removeLeftovers(own);
  return opened;
}

/** Removes a node's own folder, after its gateway was closed and its workers are reaped. */
export function removeOwnFolder(ownerId: string): void {
  try {
    rmdirSync(ownEdgeFolder(ownerId));
  } catch {
    // Not empty, or never made: the next start looks again.
  }
}

function refuseShared({ clusterId, nodeId }: EdgeNode): GatewayRefusal | undefined {
  const shared = edgeRuntimeFolder(clusterId);
  return refuseFolder(shared, nodeSocket(shared, nodeId));
}

function refuseFolder(folder: string, socket: string): GatewayRefusal | undefined {
  return refuseLongPath(socket) ?? prepareRuntimeFolder(folder);
}

function removeLeftovers(own: string): void {
  for (const name of readdirSync(own)) {
    if (join(own, name) !== localSocket(own)) rmSync(join(own, name), { force: true, recursive: true });
  }
}
