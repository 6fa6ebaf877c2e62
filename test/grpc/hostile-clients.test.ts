import { once } from 'node:events';
import http2 from 'node:http2';
import { connect } from 'node:net';
import { Client, credentials, type ServiceError, status } from '@grpc/grpc-js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { OrchestratorServiceClient, OrchestratorServiceService } from '../../gen/stageplane/v1/orchestrator_service.js';
import { limits } from '../../src/core/limits.js';
import { dial, unaryCall } from '../../src/grpc/client.js';
import { clientOptions } from '../../src/grpc/client-options.js';
import { fromServiceError } from '../../src/grpc/from-service-error.js';
import { RpcError } from '../../src/grpc/rpc-error.js';
import { startTestServer, type TestServer } from './test-server.js';

let running: TestServer;
let client: OrchestratorServiceClient;
let openNow = 0;
let openMost = 0;

const { createRun, getRun, listNodes } = OrchestratorServiceService;
const same = (bytes: Buffer) => bytes;

beforeAll(async () => {
  running = await startTestServer({
    orchestrator: {
      listNodes: async () => ({ nodes: [], nextPageToken: 'alive' }),
      createRun: async () => ({}),
      getRun: async ({ runId }) => {
        const fieldViolations = Array.from({ length: Number(runId) }, () => ({
          field: 'f',
          description: 'd'.repeat(9999),
        }));
        throw new RpcError(status.ABORTED, 'TOO_MUCH', 'ü'.repeat(100_000), { fieldViolations });
      },
    },
    agent: {
      subscribe: async (_requests, stream) => {
        openNow += 1;
        openMost = Math.max(openMost, openNow);
        await stream.closed;
        openNow -= 1;
      },
    },
  });
  client = dial(running.address, OrchestratorServiceClient);
});

afterAll(() => {
  client.close();
  running.bound.drain(0);
});

/** After every attack, an honest client must still be served. */
async function expectAlive(): Promise<void> {
  const page = await unaryCall(client, listNodes, { pageSize: 1, pageToken: '' });
  expect(page.nextPageToken).toBe('alive');
}

test('a message above the bound is refused, before and after it is on the wire', async () => {
  const request = { requestId: 'x'.repeat(limits.serverReceiveBytes + 1) };
  await expect(unaryCall(client, createRun, request)).rejects.toMatchObject({ code: status.RESOURCE_EXHAUSTED });
  const careless = dial(running.address, OrchestratorServiceClient, {
    ...clientOptions,
    'grpc.max_send_message_length': -1,
  });
  await expect(unaryCall(careless, createRun, request)).rejects.toMatchObject({
    code: status.RESOURCE_EXHAUSTED,
    message: expect.stringContaining(String(limits.serverReceiveBytes)),
  });
  careless.close();
  await expectAlive();
});

test('bytes that are no request are refused with a reason', async () => {
  const raw = new Client(running.address, credentials.createInsecure());
  const garbage = Buffer.alloc(4096, 0xff);
  const error = await new Promise<ServiceError>((resolve) => {
    raw.makeUnaryRequest(createRun.path, same, same, garbage, (refusal) => resolve(refusal!));
  });
  expect(fromServiceError(error)).toMatchObject({ code: status.INVALID_ARGUMENT, reason: 'MALFORMED_MESSAGE' });
  raw.close();
  await expectAlive();
});

test.each([
  ['random bytes', Buffer.from(Array.from({ length: 65_536 }, (_, index) => (index * 167 + 13) % 256))],
  ['an HTTP/1 request', Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n')],
  [
    'an HTTP/2 preface and then garbage',
    Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), Buffer.alloc(9999, 7)]),
  ],
])('%s on the port end that connection alone', async (_name, bytes) => {
  const [host, port] = running.address.split(':');
  const socket = connect(Number(port), host);
  socket.on('error', () => {});
  socket.resume();
  socket.end(bytes);
  await once(socket, 'close');
  await expectAlive();
});

test('a method that does not exist, or not yet, is UNIMPLEMENTED', async () => {
  const raw = new Client(running.address, credentials.createInsecure());
  const error = await new Promise((resolve) => {
    raw.makeUnaryRequest('/stageplane.v1.OrchestratorService/Nonsense', same, same, Buffer.alloc(0), resolve);
  });
  expect(error).toMatchObject({ code: status.UNIMPLEMENTED });
  raw.close();
  await expect(unaryCall(client, OrchestratorServiceService.deleteNode, { nodeId: 2n })).rejects.toMatchObject({
    code: status.UNIMPLEMENTED,
  });
});

test('an error with far too much to say still arrives, cut', async () => {
  const error = await unaryCall(client, getRun, { runId: 500n }).catch((thrown: RpcError) => thrown);
  expect(error).toMatchObject({ code: status.ABORTED, reason: 'TOO_MUCH' });
  expect(Buffer.byteLength((error as RpcError).message)).toBe(limits.statusMessageBytes);
  expect((error as RpcError).fieldViolations.length).toBeGreaterThan(0);
});

test('an invalid request never reaches its handler', async () => {
  await expect(unaryCall(client, createRun, { requestId: '', plan: undefined })).rejects.toMatchObject({
    code: status.INVALID_ARGUMENT,
    reason: 'INVALID_FIELDS',
    fieldViolations: [
      { field: 'request_id', description: 'must be set' },
      { field: 'plan', description: 'must be set' },
    ],
  });
});

test('one connection cannot open more streams than its bound', async () => {
  const session = http2.connect(`http://${running.address}`);
  session.on('error', () => {});
  const [settings] = await once(session, 'remoteSettings');
  expect(settings.maxConcurrentStreams).toBe(limits.streamsPerConnection);
  const streams = Array.from({ length: limits.streamsPerConnection * 2 }, () => {
    const stream = session.request({
      ':method': 'POST',
      ':path': '/stageplane.v1.NodeAgentService/Subscribe',
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    stream.on('error', () => {});
    return stream;
  });
  // A round trip on another connection after one on this: whatever was to be opened is open.
  await new Promise((resolve) => session.ping(resolve));
  await expectAlive();
  expect(openMost).toBeGreaterThan(0);
  expect(openMost).toBeLessThanOrEqual(limits.streamsPerConnection);
  for (const stream of streams) stream.close();
  session.destroy();
});
