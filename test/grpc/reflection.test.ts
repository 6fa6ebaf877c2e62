import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ServerDuplexStream } from '@grpc/grpc-js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ErrorInfo } from '../../gen/google/rpc/error_details.js';
import { OrchestratorServiceClient, OrchestratorServiceService } from '../../gen/stageplane/v1/orchestrator_service.js';
import { dial, unaryCall } from '../../src/grpc/client.js';
import { guardedServer } from '../../src/grpc/guarded-server.js';
import { Health } from '../../src/grpc/health.js';
import { addReflection } from '../../src/grpc/reflection.js';
import { packageRoot } from '../../src/package-root.js';
import { signalled, startTestServer, stopReadingAfterFirst, type TestServer } from './test-server.js';

const buf = join(packageRoot(), 'node_modules', '.bin', 'buf');

let running: TestServer;

beforeAll(async () => {
  running = await startTestServer({
    orchestrator: { listNodes: async ({ pageSize }) => ({ nodes: [], nextPageToken: `after ${pageSize}` }) },
  });
  const health = new Health([]);
  health.addTo(running.server, running.streams);
  health.setServing();
  addReflection(running.server, running.streams);
});

afterAll(() => running.bound.drain(0));

/** A reflection client that is not ours. */
async function bufCurl(path: string, address: string, ...options: string[]): Promise<string> {
  const url = `http://${address}${path}`;
  const args = ['curl', '--protocol', 'grpc', '--http2-prior-knowledge', ...options, url];
  const { stdout } = await promisify(execFile)(buf, args);
  return stdout.trim();
}

test.each(['grpc-v1', 'grpc-v1alpha'])('every service is listed over reflection %s', async (protocol) => {
  const listed = await bufCurl('', running.address, '--list-services', '--reflect-protocol', protocol);
  expect(listed.split('\n').sort()).toEqual([
    'grpc.health.v1.Health',
    'stageplane.v1.AdminService',
    'stageplane.v1.CertificateService',
    'stageplane.v1.EnrollmentService',
    'stageplane.v1.NodeAgentService',
    'stageplane.v1.OrchestratorService',
  ]);
});

test('a client that knows nothing can list methods and call them, across file dependencies', async () => {
  const methods = await bufCurl('', running.address, '--list-methods');
  expect(methods).toContain('stageplane.v1.OrchestratorService/CreateRun');
  const answer = await bufCurl(
    '/stageplane.v1.OrchestratorService/ListNodes',
    running.address,
    '--reflect',
    '-d',
    '{"page_size": 7}',
  );
  expect(JSON.parse(answer)).toEqual({ nextPageToken: 'after 7' });
  expect(JSON.parse(await bufCurl('/grpc.health.v1.Health/Check', running.address, '--reflect'))).toEqual({
    status: 'SERVING',
  });
});

test('a refusal reads well in a tool that is not ours', async () => {
  const refused = bufCurl(
    '/stageplane.v1.OrchestratorService/CreateRun',
    running.address,
    '--reflect',
    '-d',
    '{"request_id": "r"}',
  );
  const failure = await refused.catch((error: { stderr: string }) => JSON.parse(error.stderr));
  expect(failure).toMatchObject({ code: 'invalid_argument', message: 'plan: must be set' });
  expect(failure.details.map(({ type }: { type: string }) => type)).toEqual([
    'google.rpc.ErrorInfo',
    'google.rpc.BadRequest',
  ]);
  const info = ErrorInfo.decode(Buffer.from(failure.details[0].value, 'base64'));
  expect(info).toMatchObject({ reason: 'INVALID_FIELDS', domain: 'stageplane' });
});

test('a server may list only what it serves', async () => {
  const { server, bound, address, streams } = await startTestServer();
  addReflection(server, streams, ['stageplane.v1.OrchestratorService']);
  expect(await bufCurl('', address, '--list-services')).toBe('stageplane.v1.OrchestratorService');
  bound.drain(0);
});

test('a client that asks without reading is not listened to until it reads', async () => {
  const count = 2000;
  const same = (bytes: Buffer) => bytes;
  const path = '/test.Library/Ask';
  const method = { path, requestStream: true, responseStream: true } as const;
  const codec = {
    requestSerialize: same,
    requestDeserialize: same,
    responseSerialize: same,
    responseDeserialize: same,
  };
  const full = signalled();
  let mostHeld = 0;
  const { server, bound, address, streams } = await startTestServer({
    orchestrator: { listNodes: async () => ({ nodes: [], nextPageToken: '' }) },
  });
  guardedServer(server, streams).addService(
    { Ask: { ...method, ...codec } },
    {
      // Like the library's: it answers whatever comes and never looks at what `write` says.
      Ask: (call: ServerDuplexStream<Buffer, Buffer>) => {
        call.on('end', () => call.end());
        call.on('data', () => {
          if (!call.write(Buffer.alloc(10_000))) full.resolve();
          mostHeld = Math.max(mostHeld, call.writableLength);
        });
      },
    },
  );
  const client = dial(address, OrchestratorServiceClient);
  const call = client.makeBidiStreamRequest(path, same, same);
  const paused = stopReadingAfterFirst(call);
  for (let sent = 0; sent < count; sent += 1) call.write(Buffer.alloc(1));
  call.end();
  await Promise.all([paused, full.promise]);
  // Behind the requests on the same connection: once this is answered, they have all arrived.
  await unaryCall(client, OrchestratorServiceService.listNodes, { pageSize: 1, pageToken: '' });
  let answers = 1;
  for await (const _ of call) answers += 1;
  expect(answers).toBe(count);
  expect(mostHeld).toBeLessThanOrEqual(17);
  client.close();
  bound.drain(0);
});
