import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { limits } from '../../src/core/limits.js';
import type { GatewayConfig } from '../../src/edge-gateway/open-edge-gateway.js';
import type { EdgeContract } from '../../src/worker/edge/edge-contract.js';
import { encodePreamble } from '../../src/worker/edge/edge-preamble.js';
import { encodeHeader } from '../../src/worker/edge/object-record.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import {
  consumer,
  consumingStage,
  contract,
  openGateway,
  producer,
  producingStage,
  rawConsumer,
  register,
  stranger,
  until,
} from './edge-ends.js';

let folder: string;
let consumerSocket: string;
beforeEach(() => {
  folder = temporaryFolder();
  consumerSocket = join(folder, 'consumer.sock');
});

/** The gateways of nodes 2 and 3, and an edge from the one to the other. */
async function twoNodes(listen = '127.0.0.1:0', timings: GatewayConfig['timings'] = {}) {
  const node3 = await openGateway(folder, 'node-3', { listen, timings });
  const node2 = await openGateway(folder, 'node-2', {
    listen: '127.0.0.1:0',
    addresses: [`3=${node3.gateway.address}`],
    timings,
  });
  return {
    node2,
    node3,
    producing: register(node2.gateway, producingStage(contract)),
    consuming: register(node3.gateway, consumingStage(contract, consumerSocket)),
  };
}

const object = (payload: Uint8Array) => ({ session: 1n, flags: 0, payload });
const nothing = { strangers: 0, dialing: 0, spliced: 0, heldBytes: 0 };

describe('an edge between two nodes', () => {
  test.each(['127.0.0.1:0', 'unix'])('over %s carries objects to a consumer that comes later', async (listen) => {
    const { node2, node3 } = await twoNodes(listen === 'unix' ? `unix:${join(folder, 'remote.sock')}` : listen);
    const sender = producer(node2.gateway.localSocket);
    await until(() => node3.gateway.figures.dialing === 1);
    expect(sender.seen.ready).toBe(0);
    const receiver = await consumer(consumerSocket);
    await until(() => sender.seen.ready === 1);
    const payloads = [4, 70_000, 4, 2 ** 20].map((length) => randomBytes(length));
    for (const payload of payloads) sender.dialer.send(object(payload));
    await until(() => receiver.seen.objects.length === payloads.length);
    for (const [index, { payload }] of receiver.seen.objects.entries())
      expect(payloads[index]!.equals(payload)).toBe(true);
    for (const { gateway } of [node2, node3]) {
      expect(gateway.figures).toMatchObject({ spliced: 1, edges: 2, admitted: 1, refused: { foreign: 0 } });
    }
  });

  test('with a slow consumer holds little anywhere and loses nothing', async () => {
    const { node2, node3 } = await twoNodes();
    const receiver = await consumer(consumerSocket, contract, { takes: false });
    const sender = producer(node2.gateway.localSocket);
    await until(() => sender.seen.ready === 1);
    const payload = randomBytes(64 * 1024);
    const count = 512;
    const held: number[] = [];
    let sent = 0;
    for (let taken = 0; taken < count; ) {
      for (; sent < count && sender.dialer.hasRoom(payload.length); sent++) sender.dialer.send(object(payload));
      await new Promise((resolve) => setImmediate(resolve));
      held.push(node2.gateway.figures.heldBytes, node3.gateway.figures.heldBytes);
      const next = receiver.seen.objects[taken];
      if (next === undefined) continue;
      expect(payload.equals(next.payload)).toBe(true);
      expect(next.sequence).toBe(taken);
      receiver.listener.taken(next);
      taken += 1;
    }
    // Two sockets, each with one chunk of 64 KiB above its mark at most.
    expect(Math.max(...held)).toBeLessThanOrEqual(2 * (limits.gatewayBufferBytes + 64 * 1024));
    expect(Math.max(...held)).toBeGreaterThan(0);
  });

  test('passes on the end of one side, after its bytes, and what the other side still says', async () => {
    const { node2, node3 } = await twoNodes();
    const { taken } = await rawConsumer(consumerSocket);
    const bytes = randomBytes(3 * 2 ** 20);
    const sender = stranger(node2.gateway.localSocket, encodePreamble(contract), bytes);
    sender.socket.end();
    const receiver = await taken;
    await receiver.ended;
    expect(receiver.received().equals(Buffer.concat([encodePreamble(contract), bytes]))).toBe(true);
    expect(node2.gateway.figures.spliced).toBe(1);
    receiver.socket.end(bytes);
    await sender.ended;
    expect(sender.received().equals(bytes)).toBe(true);
    await until(() => node2.gateway.figures.spliced + node3.gateway.figures.spliced === 0);
  });

  test.each([
    ['its producer', 'producer'],
    ['its consumer', 'consumer'],
    ['the gateway of its producer', 'node2'],
    ['the gateway of its consumer', 'node3'],
  ] as const)('is over at both ends when %s is gone', async (_, gone) => {
    const { node2, node3 } = await twoNodes();
    const receiver = await consumer(consumerSocket);
    const sender = producer(node2.gateway.localSocket);
    await until(() => sender.seen.ready === 1);
    if (gone === 'producer') sender.dialer.close();
    else if (gone === 'consumer') receiver.listener.close();
    else await { node2, node3 }[gone].gateway.close();
    if (gone !== 'producer') {
      await until(() => sender.seen.faults.length === 1);
      expect(sender.seen.faults[0]!.kind).toBe('closed');
    }
    if (gone !== 'consumer') {
      await until(() => receiver.seen.faults.length === 1);
      expect(receiver.seen.faults[0]!.kind).toBe('closed');
    }
    await until(() => node2.gateway.figures.spliced + node3.gateway.figures.spliced === 0);
  });

  test('that is reset inside an object is over at its consumer', async () => {
    const { node3 } = await twoNodes();
    const receiver = await consumer(consumerSocket);
    const header = encodeHeader({ ...object(Buffer.alloc(4096)), sequence: 0 });
    const { socket } = stranger(node3.gateway.address!, encodePreamble(contract), header);
    await until(() => receiver.seen.ready === 1 && socket.bytesRead > 0);
    socket.resetAndDestroy();
    await until(() => receiver.seen.faults.length === 1);
    expect(receiver.seen.faults[0]!.kind).toMatch(/^(closed|end-inside-object)$/);
    await until(() => node3.gateway.figures.spliced === 0);
  });
});

test('an edge between two stages of one node stays on it', async () => {
  const { gateway } = await openGateway(folder, 'node-2');
  register(gateway, producingStage(contract, 2n));
  const sender = producer(gateway.localSocket);
  await until(() => gateway.figures.dialing === 1);
  register(gateway, {
    ...consumingStage(contract, consumerSocket),
    nodeId: 2n,
    outbound: { edgeId: 3n, consumerNodeId: 2n },
  });
  const receiver = await consumer(consumerSocket);
  await until(() => sender.seen.ready === 1);
  sender.dialer.send(object(Buffer.alloc(4, 9)));
  await until(() => receiver.seen.objects.length === 1);
});

describe('a connection is refused, counted and named', () => {
  test.each<[string, Partial<EdgeContract>, string]>([
    ['another run', { runId: 8n }, 'edge 2 of run 8, generation 3, which no stage here has'],
    ['an older generation', { generation: 2 }, 'edge 2 of run 7, generation 2, which no stage here has'],
    ['another edge', { edgeId: 9n }, 'edge 9 of run 7, generation 3, which no stage here has'],
    ['another producer', { producerNodeId: 5n }, 'producer node 5, this end was provisioned for 2'],
  ])('for %s, from both sides', async (_, foreign, sentence) => {
    const { node2, node3 } = await twoNodes();
    const receiver = await consumer(consumerSocket);
    const preamble = encodePreamble({ ...contract, ...foreign });
    const knocking = [stranger(node3.gateway.address!, preamble), stranger(node2.gateway.localSocket, preamble)];
    await Promise.all(knocking.map(({ closed }) => closed));
    expect(node3.notes).toEqual([`a connection from another node was refused: it is of ${sentence}`]);
    expect(node2.notes).toEqual([`a connection from a worker was refused: it is of ${sentence}`]);
    for (const { gateway } of [node2, node3]) {
      expect(gateway.figures).toMatchObject({ ...nothing, admitted: 0, refused: { foreign: 1 } });
    }
    expect(receiver.seen).toMatchObject({ ready: 0, notes: [] });
  });

  test('for an edge that goes the other way', async () => {
    const { node2 } = await twoNodes();
    const { closed } = stranger(node2.gateway.address!, encodePreamble(contract));
    await closed;
    expect(node2.gateway.figures.refused.foreign).toBe(1);
  });

  test('for garbage, for saying nothing, and for ending too soon', async () => {
    const { node3 } = await twoNodes('127.0.0.1:0', { preambleMillis: 20 });
    const address = node3.gateway.address!;
    await stranger(address, Buffer.from('GET / HTTP/1.1\r\nHost: somewhere.example\r\n\r\n')).closed;
    expect(node3.gateway.figures.refused).toMatchObject({ malformed: 1, silent: 0 });
    await stranger(address, encodePreamble(contract).subarray(0, 39)).closed;
    expect(node3.gateway.figures.refused).toMatchObject({ malformed: 1, silent: 1 });
    const early = stranger(address, encodePreamble(contract).subarray(0, 39));
    early.socket.end();
    await early.closed;
    expect(node3.gateway.figures).toMatchObject({ ...nothing, refused: { malformed: 1, silent: 2, crowded: 0 } });
    expect(node3.notes.map((note) => /it (.*)$/.exec(note)![1])).toEqual([
      'does not begin with the preamble of an edge',
      'does not say whose it is',
      expect.stringMatching(/does not say|ended before/),
    ]);
  });

  test('when too many say nothing: the oldest, and a producer still gets through', async () => {
    const { node2, node3 } = await twoNodes();
    const silent = Array.from({ length: limits.gatewayStrangers + 1 }, () => stranger(node3.gateway.address!));
    await silent[0]!.closed;
    expect(node3.gateway.figures.refused.crowded).toBe(1);
    await consumer(consumerSocket);
    const sender = producer(node2.gateway.localSocket);
    await until(() => sender.seen.ready === 1);
  });

  test('when nobody is there in time', async () => {
    const { node2, node3 } = await twoNodes('127.0.0.1:0', { dialMillis: 60 });
    const { closed } = stranger(node2.gateway.localSocket, encodePreamble(contract));
    await closed;
    expect(node3.gateway.figures.refused.unreachable).toBe(1);
    expect(node3.notes[0]).toContain('edge 2 of run 7 does not reach the stage that consumes it yet (unix:');
    await node3.gateway.close();
    await stranger(node2.gateway.localSocket, encodePreamble(contract)).closed;
    expect(node2.gateway.figures.refused.unreachable).toBe(1);
    expect(node2.notes[0]).toMatch(
      /edge 2 of run 7 does not reach node 3 yet \(127\.0\.0\.1:\d+: connect ECONNREFUSED/,
    );
  });
});

describe('a stage', () => {
  test('is refused when its edges cannot go where they should', async () => {
    const { gateway } = await openGateway(folder, 'node-2', { addresses: ['3=192.0.2.1:7400'] });
    const refusal = (stage: Parameters<typeof gateway.register>[0]) => {
      const outcome = gateway.register(stage);
      return outcome.kind === 'refused' ? `${outcome.reason}: ${outcome.message}` : outcome.kind;
    };
    expect(refusal(producingStage(contract, 4n))).toBe(
      'UNKNOWN_NODE: nothing says where node 4 is: set --edge-address 4=host:port, or --edge-template for all nodes',
    );
    expect(refusal(producingStage(contract, 3n))).toMatch(/^INSECURE_ADDRESS: node 3 is at 192\.0\.2\.1:7400, and /);
    expect(refusal(consumingStage(contract, consumerSocket))).toMatch(
      /^NOT_LISTENING: edge 2 of run 7 .*--edge-listen$/,
    );
    expect(refusal(producingStage(contract, 2n))).toBe('registered');
    expect(refusal(producingStage(contract, 2n))).toMatch(/^ALREADY_REGISTERED: /);
    expect(gateway.figures.edges).toBe(2);
    await gateway.close();
    expect(refusal(producingStage({ ...contract, runId: 9n }, 2n))).toMatch(/^CLOSED: /);
  });

  test('that has ended lets nothing through any more, and what crosses ends soon', async () => {
    const { node2, node3, consuming, producing } = await twoNodes('127.0.0.1:0', { lingerMillis: 20 });
    const receiver = await consumer(consumerSocket);
    const sender = producer(node2.gateway.localSocket);
    await until(() => sender.seen.ready === 1);
    consuming.remove();
    await until(() => sender.seen.faults.length === 1 && receiver.seen.faults.length === 1);
    await stranger(node3.gateway.address!, encodePreamble(contract)).closed;
    expect(node3.gateway.figures).toMatchObject({ ...nothing, edges: 0, refused: { foreign: 1 } });
    producing.remove();
    expect(node2.gateway.figures.edges).toBe(0);
    // An old registration has no say over what has come in its place.
    register(node2.gateway, producingStage(contract));
    producing.remove();
    expect(node2.gateway.figures.edges).toBe(2);
  });

  test('that has ended is not dialled any more; nor is anyone for a producer that gave up', async () => {
    const { node3, consuming } = await twoNodes();
    const givingUp = stranger(node3.gateway.address!, encodePreamble(contract));
    await until(() => node3.gateway.figures.dialing === 1);
    givingUp.socket.end();
    await until(() => node3.gateway.figures.dialing === 0);
    const waiting = stranger(node3.gateway.address!, encodePreamble(contract), Buffer.alloc(100));
    await until(() => node3.gateway.figures.dialing === 1);
    consuming.remove();
    await waiting.closed;
    expect(node3.gateway.figures).toMatchObject({ ...nothing, refused: { unreachable: 0 } });
  });
});

test('a hundred edges at once, all gone after close', async () => {
  const before = socketsOfThisProcess();
  const node3 = await openGateway(folder, 'node-3', { listen: '127.0.0.1:0' });
  const node2 = await openGateway(folder, 'node-2', {
    listen: '127.0.0.1:0',
    addresses: [`3=${node3.gateway.address}`],
  });
  const edges = await Promise.all(
    Array.from({ length: 100 }, async (_, index) => {
      const edge = { ...contract, runId: BigInt(index + 1) };
      const socket = join(folder, `${index}.sock`);
      register(node2.gateway, producingStage(edge));
      register(node3.gateway, consumingStage(edge, socket));
      return { sender: producer(node2.gateway.localSocket, edge), receiver: await consumer(socket, edge) };
    }),
  );
  await until(() => edges.every(({ sender }) => sender.seen.ready === 1));
  for (const [index, { sender }] of edges.entries()) sender.dialer.send(object(Buffer.alloc(4096, index)));
  await until(() => edges.every(({ receiver }) => receiver.seen.objects.length === 1));
  for (const [index, { receiver }] of edges.entries()) expect(receiver.seen.objects[0]!.payload[0]).toBe(index);
  expect(node2.gateway.figures).toMatchObject({ spliced: 100, edges: 200, admitted: 100 });
  await Promise.all([node2.gateway.close(), node3.gateway.close()]);
  for (const { gateway } of [node2, node3]) expect(gateway.figures).toMatchObject(nothing);
  await until(() =>
    edges.every(({ sender, receiver }) => sender.seen.faults.length + receiver.seen.faults.length === 2),
  );
  await until(() => socketsOfThisProcess() <= before);
  expect(readdirSync(folder)).toEqual([]);
});

function socketsOfThisProcess(): number {
  return process.getActiveResourcesInfo().filter((name) => /^(TCP|Pipe)/.test(name)).length;
}
