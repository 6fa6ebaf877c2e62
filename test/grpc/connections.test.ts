import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { Client, credentials, Metadata, status } from '@grpc/grpc-js';
import { expect, onTestFinished, test } from 'vitest';
import { OrchestratorServiceClient, OrchestratorServiceService } from '../../gen/stageplane/v1/orchestrator_service.js';
import { CallRates } from '../../src/grpc/call-rates.js';
import { dial, unaryCall } from '../../src/grpc/client.js';
import { startTestServer, type TestServer, type TestServerParts } from './test-server.js';

const { listNodes } = OrchestratorServiceService;
const orchestrator = { listNodes: async () => ({ nodes: [], nextPageToken: '' }) };

async function start(parts: TestServerParts = {}): Promise<TestServer> {
  const server = await startTestServer({ orchestrator, ...parts });
  onTestFinished(() => server.bound.drain(0));
  return server;
}

function client({ address }: TestServer): OrchestratorServiceClient {
  const made = dial(address, OrchestratorServiceClient);
  onTestFinished(() => made.close());
  return made;
}

const ask = (by: OrchestratorServiceClient) => unaryCall(by, listNodes, { pageSize: 1, pageToken: '' });

async function silent({ address }: TestServer): Promise<Socket> {
  const [host, port] = address.split(':');
  const socket = connect(Number(port), host).on('error', () => {});
  onTestFinished(() => void socket.destroy());
  socket.resume();
  await once(socket, 'connect');
  return socket;
}

async function ended(socket: Socket): Promise<void> {
  if (!socket.closed) await once(socket, 'close');
}

test('when too many have not called yet the oldest of them goes, and never one that has', async () => {
  const server = await start({ bounds: { strangers: 2 } });
  const honest = client(server);
  await ask(honest);
  const [first, second, third] = [await silent(server), await silent(server), await silent(server)];
  await ended(first);
  await ask(client(server));
  await ended(second);
  await ask(honest);
  expect(third.closed).toBe(false);
});

test('when one address has all that it may have, a stranger of it goes, and without one nobody else comes in', async () => {
  const server = await start({ bounds: { perAddress: 2 } });
  const [one, two] = [client(server), client(server)];
  await ask(one);
  const stranger = await silent(server);
  await ask(two);
  await ended(stranger);
  await expect(ask(client(server))).rejects.toMatchObject({ code: status.UNAVAILABLE });
  one.close();
  const late = client(server);
  await expect
    .poll(() =>
      ask(late).then(
        () => 'answered',
        ({ codeName }) => codeName,
      ),
    )
    .toBe('answered');
  await ask(two);
});

test('a connection that makes no call is ended after its time, and one that has made one stays', async () => {
  const server = await start({ bounds: { firstCallMillis: 300 } });
  const honest = await silent(server);
  honest.destroy();
  const caller = client(server);
  await ask(caller);
  const before = caller.getChannel().getConnectivityState(false);
  await ended(await silent(server));
  expect(caller.getChannel().getConnectivityState(false)).toBe(before);
});

test('calls beyond the rate of a caller are refused with when to try again, and others are not concerned', async () => {
  const server = await start({ rates: new CallRates({ burst: 5, perSecond: 0.001 }) });
  const eager = client(server);
  const outcomes = await Promise.allSettled([1, 2, 3, 4, 5, 6, 7].map(() => ask(eager)));
  const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
  expect(refused).toHaveLength(2);
  expect(refused[0]).toMatchObject({ code: status.RESOURCE_EXHAUSTED, reason: 'TOO_MANY_CALLS' });
  expect(Number(refused[0].metadata.retryAfterMillis)).toBeGreaterThan(0);
  await ask(client(server));
});

test('a compressed message is refused before anything inflates it', async () => {
  const server = await start();
  const raw = new Client(server.address, credentials.createInsecure(), { 'grpc.default_compression_algorithm': 2 });
  onTestFinished(() => raw.close());
  const metadata = new Metadata();
  metadata.set('grpc-encoding', 'gzip');
  const bytes = (buffer: Buffer) => buffer;
  const error = await new Promise((resolve) => {
    raw.makeUnaryRequest(listNodes.path, bytes, bytes, gzipSync(Buffer.alloc(999)), metadata, resolve);
  });
  expect(error).toMatchObject({ code: status.UNIMPLEMENTED, details: expect.stringContaining('identity') });
});
