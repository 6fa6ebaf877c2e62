import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createPlainServer } from 'node:net';
import { join } from 'node:path';
import { connect, createServer, type TLSSocket } from 'node:tls';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { limits } from '../../src/core/limits.js';
import { type GatewayConfig, openEdgeGateway } from '../../src/edge-gateway/open-edge-gateway.js';
import type { Credentials } from '../../src/pki/credential-folder.js';
import { encodePreamble } from '../../src/worker/edge/edge-preamble.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { TestAuthority } from '../support/test-authority.js';
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
  strangerFrom,
  until,
} from './edge-ends.js';

let folder: string;
let consumerSocket: string;
let authority: TestAuthority;
beforeEach(async () => {
  folder = temporaryFolder();
  consumerSocket = join(folder, 'consumer.sock');
  authority = await TestAuthority.make();
});

const HOUR = 60 * 60_000;
const object = (payload: Uint8Array) => ({ session: 1n, flags: 0, payload });
const quick = { distrustMillis: 100, handshakeMillis: 300 };

interface Node {
  readonly credentials?: Credentials | undefined;
  readonly timings?: GatewayConfig['timings'];
}

/** The gateways of nodes 2 and 3, and an edge from the one to the other; what node 2 is told when it meets a stranger. */
async function twoNodes(two: Node, three: Node) {
  const node3 = await openNode('node-3', three);
  return { node3, ...(await openProducer(two, node3.gateway.address!)) };
}

async function openProducer(two: Node, address: string) {
  const told: string[] = [];
  const node2 = await openNode('node-2', two, [`3=${address}`]);
  register(node2.gateway, { ...producingStage(contract), onDistrust: (sentence) => told.push(sentence) });
  return { node2, told };
}

async function openNode(name: string, { credentials, timings }: Node, addresses: string[] = []) {
  const given = credentials && (() => credentials);
  const opened = await openGateway(folder, name, { listen: '127.0.0.1:0', addresses, credentials: given, timings });
  if (name === 'node-3') register(opened.gateway, consumingStage(contract, consumerSocket));
  return opened;
}

/** A TLS client that goes where no gateway of ours would. */
function knock(address: string, shown: Partial<Credentials>, options: object = {}) {
  const { ca, certificate: cert, privateKey: key } = shown;
  const port = Number(/:(\d+)$/.exec(address)![1]);
  const socket = connect({ host: '127.0.0.1', port, ca, cert, key, rejectUnauthorized: false, ...options });
  socket.on('error', () => {});
  onTestFinished(() => void socket.destroy());
  const closed = new Promise((resolve) => socket.on('close', resolve));
  socket.resume();
  return { socket, closed };
}

describe('an edge between two nodes that have joined', () => {
  test('goes over mutual TLS 1.3, also on loopback, and carries objects of all sizes', async () => {
    const { node2, node3 } = await twoNodes(
      { credentials: await authority.node(2n) },
      { credentials: await authority.node(3n) },
    );
    const receiver = await consumer(consumerSocket);
    const sender = producer(node2.gateway.localSocket);
    await until(() => sender.seen.ready === 1);
    const payloads = [4, 70_000, 4, 2 ** 20].map((length) => randomBytes(length));
    for (const payload of payloads) sender.dialer.send(object(payload));
    await until(() => receiver.seen.objects.length === payloads.length);
    for (const [at, { payload }] of receiver.seen.objects.entries()) expect(payloads[at]!.equals(payload)).toBe(true);
    for (const { gateway, notes } of [node2, node3]) {
      expect(gateway.figures).toMatchObject({ spliced: 1, admitted: 1 });
      expect(notes).toEqual([]);
    }
  });

  test('shows nothing of the objects on the wire', async () => {
    const secret = Buffer.from('a secret that nobody on the way may read'.repeat(8));
    const { gateway } = await openNode('node-3', { credentials: await authority.node(3n) });
    const seen: Buffer[] = [];
    const wiretap = createPlainServer((socket) => {
      const onward = stranger(gateway.address!).socket;
      socket.on('data', (chunk) => seen.push(chunk));
      socket.on('error', () => {});
      socket.pipe(onward).pipe(socket);
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void wiretap.close());
    await once(wiretap, 'listening');
    const { port } = wiretap.address() as { port: number };
    const { node2 } = await openProducer({ credentials: await authority.node(2n) }, `127.0.0.1:${port}`);
    const receiver = await consumer(consumerSocket);
    const sender = producer(node2.gateway.localSocket);
    await until(() => sender.seen.ready === 1);
    sender.dialer.send(object(secret));
    await until(() => receiver.seen.objects.length === 1);
    expect(Buffer.concat(seen).includes(secret.subarray(0, 40))).toBe(false);
    expect(Buffer.concat(seen).length).toBeGreaterThan(secret.length);
  });

  test('passes on the end of one side, after its bytes, and what the other side still says', async () => {
    const { node2, node3 } = await twoNodes(
      { credentials: await authority.node(2n) },
      { credentials: await authority.node(3n) },
    );
    const { taken } = await rawConsumer(consumerSocket);
    const bytes = randomBytes(3 * 2 ** 20);
    const sender = stranger(node2.gateway.localSocket, encodePreamble(contract), bytes);
    sender.socket.end();
    const receiver = await taken;
    await receiver.ended;
    expect(receiver.received().equals(Buffer.concat([encodePreamble(contract), bytes]))).toBe(true);
    receiver.socket.end(bytes);
    await sender.ended;
    expect(sender.received().equals(bytes)).toBe(true);
    await until(() => node2.gateway.figures.spliced + node3.gateway.figures.spliced === 0);
  });

  test.each([
    ['from the orchestrator', 1n, 3n],
    ['to the orchestrator', 2n, 1n],
  ])('%s is one of node 1', async (_what, from, to) => {
    const edge = { ...contract, producerNodeId: from };
    const credentials = [await authority.node(from), await authority.node(to)] as const;
    const taking = await openGateway(folder, 'taking', { listen: '127.0.0.1:0', credentials: () => credentials[1] });
    const addresses = [`${to}=${taking.gateway.address}`];
    const giving = await openGateway(folder, 'giving', {
      listen: '127.0.0.1:0',
      addresses,
      credentials: () => credentials[0],
    });
    const stage = consumingStage(edge, consumerSocket);
    register(taking.gateway, { ...stage, nodeId: to, outbound: { ...stage.outbound, consumerNodeId: to } });
    register(giving.gateway, producingStage(edge, to));
    await consumer(consumerSocket, edge);
    const sender = producer(giving.gateway.localSocket, edge);
    await until(() => sender.seen.ready === 1);
  });
});

describe('whoever answers in place of the planned consumer gets nothing', () => {
  const join = 'join that node with a token of this cluster';
  const cases: [string, (other: TestAuthority) => Promise<Credentials | undefined>, string, string][] = [
    ['by a foreign CA', (other) => other.node(3n), 'foreign-ca', `shows a certificate of another CA: ${join}`],
    [
      'by an expired certificate',
      () => authority.node(3n, { now: Date.now() - 2 * HOUR }),
      'expired',
      'shows a certificate that is not valid now',
    ],
    [
      'as another node',
      () => authority.node(4n),
      'other-node',
      'has the certificate of node 4: correct --edge-address 3=host:port or --edge-template',
    ],
    ['in plain text', async () => undefined, 'plaintext', `does not speak TLS: ${join}`],
  ];
  test.each(cases)('%s', async (_what, shownBy, reason, sentence) => {
    const credentials = await shownBy(await TestAuthority.make());
    const { node2, node3, told } = await twoNodes(
      { credentials: await authority.node(2n), timings: quick },
      { credentials },
    );
    const receiver = await consumer(consumerSocket);
    const sender = producer(node2.gateway.localSocket);
    await until(() => told.length === 1);
    expect(told[0]).toContain(
      `edge 2 of run 7 goes to node 3, but who answers at ${node3.gateway.address} ${sentence}`,
    );
    expect(node2.gateway.figures.refused[reason as 'expired']).toBeGreaterThan(0);
    expect(node2.gateway.figures.spliced).toBe(0);
    expect(sender.seen.ready + receiver.seen.ready).toBe(0);
  });

  test('when it never ends its handshake', async () => {
    const silent = createPlainServer((socket) => void socket.on('error', () => {})).listen(0, '127.0.0.1');
    onTestFinished(() => void silent.close());
    await once(silent, 'listening');
    const { port } = silent.address() as { port: number };
    const timings = { handshakeMillis: 50, dialMillis: 100 };
    const { node2, told } = await openProducer({ credentials: await authority.node(2n), timings }, `127.0.0.1:${port}`);
    producer(node2.gateway.localSocket);
    await until(() => told.length === 1);
    expect(told[0]).toMatch(/^edge 2 of run 7 goes to node 3, but who answers at .* does not end its TLS handshake: /);
    expect(node2.gateway.figures.refused['handshake-timeout']).toBe(1);
  });

  test('and an own certificate that has expired is said before anybody is asked', async () => {
    const credentials = await authority.node(2n, { now: Date.now() - 2 * HOUR });
    const { node2, node3, told } = await twoNodes(
      { credentials, timings: quick },
      { credentials: await authority.node(3n) },
    );
    producer(node2.gateway.localSocket);
    await until(() => told.length === 1);
    expect(told[0]).toContain("edge 2 of run 7 goes to node 3, but this node's own certificate has expired");
    expect(node3.gateway.figures.refused).toMatchObject({ expired: 0, handshake: 0 });
  });
});

describe('a producer is let in by its certificate alone', () => {
  /** Only node 3, and somebody who does not ask whether the gateway is the right one. */
  async function knocked(shown: Partial<Credentials>, options: object = {}) {
    const node3 = await openNode('node-3', { credentials: await authority.node(3n), timings: quick });
    const receiver = await consumer(consumerSocket);
    const { socket, closed } = knock(node3.gateway.address!, shown, options);
    socket.on('secureConnect', () => socket.write(encodePreamble(contract)));
    await closed;
    expect(receiver.seen.ready).toBe(0);
    return node3;
  }

  const expected = 'a connection from another node was refused: it';
  test.each<[string, (other: TestAuthority) => Promise<Partial<Credentials>>, string, string]>([
    ['none', async () => ({}), 'foreign-ca', 'shows no certificate: join'],
    ['one of a foreign CA', (other) => other.node(2n), 'foreign-ca', 'shows a certificate of another CA: join'],
    [
      'one that has expired',
      () => authority.node(2n, { now: Date.now() - 2 * HOUR }),
      'expired',
      'shows a certificate that is not valid now: compare the clocks',
    ],
    [
      'that of another node',
      () => authority.node(4n),
      'other-node',
      'brings edge 2 of run 7, which node 2 produces, with the certificate of node 4: make sure',
    ],
    [
      'that of the orchestrator',
      () => authority.node(1n),
      'other-node',
      'brings edge 2 of run 7, which node 2 produces, with the certificate of node 1: make sure',
    ],
    [
      'that of a launcher',
      () => authority.client('launcher', 'lena'),
      'other-node',
      'shows the certificate of no node (role launcher, launcher:lena): only agents',
    ],
    [
      'that of an admin',
      () => authority.client('admin', 'local'),
      'other-node',
      'shows the certificate of no node (role admin, admin:local): only agents',
    ],
  ])('not with %s', async (_what, shownBy, kind, sentence) => {
    const { gateway, notes } = await knocked(await shownBy(await TestAuthority.make()));
    await until(() => notes.length === 1);
    expect(notes[0]).toContain(`${expected} ${sentence}`);
    expect(gateway.figures).toMatchObject({ admitted: 0, strangers: 0, refused: { [kind]: 1 } });
  });

  test('not over TLS 1.2', async () => {
    const { notes } = await knocked(await authority.node(2n), { maxVersion: 'TLSv1.2' });
    await until(() => notes.length === 1);
    expect(notes[0]).toContain(`${expected} speaks no TLS 1.3: install matching versions`);
  });

  test('not in plain text', async () => {
    const node3 = await openNode('node-3', { credentials: await authority.node(3n) });
    await stranger(node3.gateway.address!, encodePreamble(contract)).closed;
    await until(() => node3.notes.length === 1);
    expect(node3.notes[0]).toContain(`${expected} does not speak TLS: join that node`);
    expect(node3.gateway.figures.refused.plaintext).toBe(1);
  });

  test('a gateway without a certificate says of TLS what it is', async () => {
    const node3 = await openNode('node-3', {});
    await knock(node3.gateway.address!, await authority.node(2n)).closed;
    expect(node3.notes[0]).toContain(`${expected} speaks TLS, which this node cannot before it has joined`);
    expect(node3.gateway.figures).toMatchObject({ strangers: 0, refused: { plaintext: 1, malformed: 0 } });
  });
});

describe('handshakes', () => {
  test('that never end are given up in time', async () => {
    const timings = { handshakeMillis: 50 };
    const node3 = await openNode('node-3', { credentials: await authority.node(3n), timings });
    const hello = Buffer.from([22, 3, 1, 2, 0, 1]);
    const slow = [stranger(node3.gateway.address!), stranger(node3.gateway.address!, hello)];
    await until(() => node3.gateway.figures.strangers === 2);
    await Promise.all(slow.map(({ closed }) => closed));
    await until(() => node3.gateway.figures.refused['handshake-timeout'] === 2);
    expect(node3.gateway.figures.strangers).toBe(0);
    expect(node3.notes[0]).toContain('does not end its TLS handshake: see what is there');
  });

  test('are bounded: the oldest goes, and an honest producer still gets through', async () => {
    const { node2, node3 } = await twoNodes(
      { credentials: await authority.node(2n) },
      { credentials: await authority.node(3n) },
    );
    await consumer(consumerSocket);
    const slow = Array.from({ length: limits.gatewayHandshakes + 3 }, () => stranger(node3.gateway.address!));
    await Promise.all(slow.slice(0, 3).map(({ closed }) => closed));
    expect(node3.gateway.figures.refused.crowded).toBe(3);
    expect(node3.gateway.figures.strangers).toBe(limits.gatewayHandshakes);
    const sender = producer(node2.gateway.localSocket);
    await until(() => sender.seen.ready === 1);
  });

  test('of whoever floods push out their own, and not those of others', async () => {
    const node3 = await openNode('node-3', { credentials: await authority.node(3n) });
    const other = stranger(node3.gateway.address!);
    await until(() => node3.gateway.figures.strangers === 1);
    const flood = Array.from({ length: limits.gatewayHandshakes + 3 }, () =>
      strangerFrom('127.0.0.2', node3.gateway.address!),
    );
    await Promise.all(flood.slice(0, 4).map(({ closed }) => closed));
    expect(node3.gateway.figures.refused.crowded).toBe(4);
    expect(other.socket.destroyed).toBe(false);
  });

  test('that were left in the middle hold nothing', async () => {
    const node3 = await openNode('node-3', { credentials: await authority.node(3n) });
    const leaving = stranger(node3.gateway.address!);
    await until(() => node3.gateway.figures.strangers === 1);
    leaving.socket.end();
    await until(() => node3.gateway.figures.strangers === 0);
  });
});

test('a renewed certificate is shown and believed from the next connection on, and open edges stay', async () => {
  const old = { lifetime: 2 * HOUR };
  let [two, three] = [await authority.node(2n, old), await authority.node(3n, old)];
  const node3 = await openGateway(folder, 'node-3', { listen: '127.0.0.1:0', credentials: () => three });
  const addresses = [`3=${node3.gateway.address}`];
  const node2 = await openGateway(folder, 'node-2', { listen: '127.0.0.1:0', addresses, credentials: () => two });
  const [before, after] = [contract, { ...contract, runId: 8n }];
  for (const edge of [before, after]) {
    register(node2.gateway, producingStage(edge));
    register(node3.gateway, consumingStage(edge, join(folder, `${edge.runId}.sock`)));
  }
  const connect = async (edge: typeof contract) => {
    const receiver = await consumer(join(folder, `${edge.runId}.sock`), edge);
    const sender = producer(node2.gateway.localSocket, edge);
    await until(() => sender.seen.ready === 1);
    return { sender, receiver };
  };
  const first = await connect(before);
  const shown = async () => {
    const { socket } = knock(node3.gateway.address!, two);
    await once(socket, 'secureConnect');
    const { fingerprint256 } = (socket as TLSSocket).getPeerCertificate();
    socket.destroy();
    return fingerprint256;
  };
  const oldShown = await shown();
  // A new CA stands for everything that may change: nobody of the old one would believe what is shown now.
  authority = await TestAuthority.make();
  [two, three] = [await authority.node(2n), await authority.node(3n)];
  await connect(after);
  expect(await shown()).not.toBe(oldShown);
  first.sender.dialer.send(object(Buffer.alloc(4)));
  await until(() => first.receiver.seen.objects.length === 1);
});

describe('a gateway with a certificate', () => {
  async function attempt(config: Partial<GatewayConfig>) {
    const credentials = await authority.node(2n);
    const localSocket = join(folder, 'local.sock');
    const opened = await openEdgeGateway({ localSocket, onNote: () => {}, credentials: () => credentials, ...config });
    if (opened.kind === 'open') onTestFinished(() => opened.gateway.close());
    return opened;
  }

  test('listens beyond loopback, and dials there, without a word about it', async () => {
    const opened = await attempt({ listen: '0.0.0.0:0', addresses: ['3=192.0.2.1:7400'] });
    expect(opened.kind).toBe('open');
    if (opened.kind === 'open') register(opened.gateway, producingStage(contract));
  });

  test('refuses to be insecure', async () => {
    expect(await attempt({ listen: '127.0.0.1:0', insecureEdges: true })).toEqual({
      kind: 'refused',
      reason: 'ALREADY_SECURE',
      message: 'this node has a certificate, and its edges go over mutual TLS: leave out --insecure-edges',
    });
  });

  test('is refused when certificate and key are none', async () => {
    const credentials = { ...(await authority.node(2n)), privateKey: (await authority.node(2n)).privateKey };
    expect(await attempt({ credentials: () => credentials })).toMatchObject({ reason: 'CREDENTIALS_UNUSABLE' });
  });
});

test('a server of the same CA that asks nobody who they are is met, but only as the node that it is', async () => {
  const { ca, certificate: cert, privateKey: key } = await authority.client('launcher', 'lena');
  const server = createServer({ ca, cert, key }, (socket) => void socket.resume()).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const two = { credentials: await authority.node(2n), timings: quick };
  const { node2, told } = await openProducer(two, `127.0.0.1:${port}`);
  producer(node2.gateway.localSocket);
  await until(() => told.length === 1);
  expect(told[0]).toContain('has the certificate of no node: correct --edge-address 3=host:port');
});
