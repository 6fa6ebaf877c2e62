import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { EdgeGateway } from '../../src/edge-gateway/edge-gateway.js';
import { type GatewayConfig, openEdgeGateway } from '../../src/edge-gateway/open-edge-gateway.js';
import type { StageEdges } from '../../src/edge-gateway/stage-edges.js';
import type { EdgeContract } from '../../src/worker/edge/edge-contract.js';
import { EdgeDialer } from '../../src/worker/edge/edge-dialer.js';
import type { EdgeFault } from '../../src/worker/edge/edge-fault.js';
import { type EdgeListener, listenForEdge } from '../../src/worker/edge/edge-listener.js';
import type { ObjectRecord } from '../../src/worker/edge/object-record.js';

/** An edge from node 2 to node 3. */
export const contract: EdgeContract = {
  runId: 7n,
  generation: 3,
  edgeId: 2n,
  producerNodeId: 2n,
  maxExtent: 2 ** 20,
  alignment: 4,
  capacity: 256 * 1024,
};

/** The producing stage on node 2, as its gateway knows it; what comes before it is on its own node. */
export function producingStage(edge: EdgeContract, consumerNodeId = 3n): StageEdges {
  const { runId, generation, edgeId, producerNodeId } = edge;
  const inbound = { edgeId: edgeId + 1000n, producerNodeId, socket: '/nowhere' };
  return { runId, generation, nodeId: producerNodeId, inbound, outbound: { edgeId, consumerNodeId } };
}

/** The consuming stage on node 3; what comes after it is on its own node. */
export function consumingStage(
  { runId, generation, edgeId, producerNodeId }: EdgeContract,
  socket: string,
): StageEdges {
  const inbound = { edgeId, producerNodeId, socket };
  return { runId, generation, nodeId: 3n, inbound, outbound: { edgeId: edgeId + 1000n, consumerNodeId: 3n } };
}

/** Goes on when something is so; what never is ends in the test's timeout. */
export async function until(condition: () => boolean): Promise<void> {
  let over = false;
  onTestFinished(() => {
    over = true;
  });
  while (!over && !condition()) await new Promise((resolve) => setImmediate(resolve));
}

export interface TestGateway {
  readonly gateway: EdgeGateway;
  readonly notes: string[];
}

/** A gateway with its local socket in `folder`. */
export async function openGateway(
  folder: string,
  name: string,
  config: Partial<GatewayConfig> = {},
): Promise<TestGateway> {
  const notes: string[] = [];
  const onNote = (sentence: string) => notes.push(sentence);
  const opened = await openEdgeGateway({ localSocket: join(folder, `${name}.sock`), onNote, ...config });
  if (opened.kind === 'refused') throw new Error(opened.message);
  onTestFinished(() => opened.gateway.close());
  return { gateway: opened.gateway, notes };
}

export function register(gateway: EdgeGateway, stage: StageEdges) {
  const outcome = gateway.register(stage);
  if (outcome.kind === 'refused') throw new Error(outcome.message);
  return outcome.registration;
}

/** A worker's consuming end. */
export async function consumer(path: string, edge = contract, { takes = true } = {}) {
  const seen = { ready: 0, objects: [] as ObjectRecord[], faults: [] as EdgeFault[], notes: [] as string[] };
  const listening = await listenForEdge(path, edge, {
    onReady: () => {
      seen.ready += 1;
    },
    onObject: (object) => {
      seen.objects.push(object);
      if (takes) listener.taken(object);
    },
    onFault: (fault) => seen.faults.push(fault),
    onNote: (sentence) => seen.notes.push(sentence),
  });
  if (listening.kind === 'refused') throw new Error(listening.fault.message);
  const listener: EdgeListener = listening.listener;
  onTestFinished(() => listener.close());
  return { listener, seen };
}

/** A worker's producing end. */
export function producer(path: string, edge = contract) {
  const seen = { ready: 0, faults: [] as EdgeFault[], notes: [] as string[] };
  const dialer = new EdgeDialer(path, edge, {
    onReady: () => {
      seen.ready += 1;
    },
    onRoom: () => {},
    onFault: (fault) => seen.faults.push(fault),
    onNote: (sentence) => seen.notes.push(sentence),
  });
  onTestFinished(() => dialer.close());
  return { dialer, seen };
}

/** A connection that writes bytes of the test's own choice; `received` grows. */
export function stranger(address: string, ...chunks: Uint8Array[]) {
  return strangerFrom(undefined, address, ...chunks);
}

/** @param localAddress from which it comes */
export function strangerFrom(localAddress: string | undefined, address: string, ...chunks: Uint8Array[]) {
  const port = /:(\d+)$/.exec(address)?.[1];
  const path = address.replace('unix:', '');
  const options = port === undefined ? { path } : { host: '127.0.0.1', port: Number(port), localAddress };
  const socket = connect(options);
  socket.on('error', () => {});
  for (const chunk of chunks) socket.write(chunk);
  onTestFinished(() => void socket.destroy());
  return collect(socket);
}

/** A consumer that is no worker: it gives the first connection. */
export async function rawConsumer(
  path: string,
): Promise<{ server: Server; taken: Promise<ReturnType<typeof collect>> }> {
  const server = createServer({ allowHalfOpen: true });
  const taken = once(server, 'connection').then(([socket]) => collect(socket as Socket));
  server.listen(path);
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { server, taken };
}

function collect(socket: Socket) {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.on('error', () => {});
  const ended = new Promise((resolve) => socket.on('end', resolve));
  const closed = new Promise((resolve) => socket.on('close', resolve));
  return { socket, ended, closed, received: () => Buffer.concat(chunks) };
}
