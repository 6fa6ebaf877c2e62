import { status } from '@grpc/grpc-js';
import { afterEach, expect, test } from 'vitest';
import { OrchestratorServiceClient, OrchestratorServiceService } from '../../gen/stageplane/v1/orchestrator_service.js';
import { dial, streamCall, unaryCall } from '../../src/grpc/client.js';
import { fromServiceError } from '../../src/grpc/from-service-error.js';
import { RpcError } from '../../src/grpc/rpc-error.js';
import type { StreamEnd } from '../../src/grpc/stream-writer.js';
import { signalled, startTestServer } from './test-server.js';

const { getRun, watchRun } = OrchestratorServiceService;
const watch = { runId: 1n, afterRevision: 0n };

const cleanups: (() => unknown)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0).reverse()) cleanup();
});

/** A server that sends progress for ever, and a client of it. */
async function endless(): Promise<{ client: OrchestratorServiceClient; left: Promise<StreamEnd> }> {
  const left = signalled<StreamEnd>();
  const { bound, address } = await startTestServer({
    orchestrator: {
      watchRun: async (_request, stream) => {
        for (let revision = 1n; stream.isOpen; revision += 1n) {
          stream.write({ update: { $case: 'progress', value: { revision } } });
          await stream.ready();
          await new Promise((resolve) => setImmediate(resolve));
        }
        left.resolve(await stream.closed);
      },
    },
  });
  const client = dial(address, OrchestratorServiceClient);
  cleanups.push(() => bound.drain(0));
  cleanups.push(() => client.close());
  return { client, left: left.promise };
}

test('leaving a stream early cancels it at the server', async () => {
  const { client, left } = await endless();
  for await (const { update } of streamCall(client, watchRun, watch)) {
    if (update?.$case === 'progress' && update.value.revision === 3n) break;
  }
  expect(await left).toEqual({ kind: 'gone' });
});

test('a signal ends a stream with CANCELLED', async () => {
  const { client, left } = await endless();
  const abort = new AbortController();
  const reading = (async () => {
    for await (const _ of streamCall(client, watchRun, watch, { signal: abort.signal })) abort.abort();
  })();
  await expect(reading).rejects.toMatchObject({ name: 'RpcError', code: status.CANCELLED });
  expect(await left).toEqual({ kind: 'gone' });
});

test('a signal that has fired before the call ends it at once', async () => {
  const { client } = await endless();
  const signal = AbortSignal.abort();
  await expect(unaryCall(client, getRun, { runId: 1n }, { signal })).rejects.toMatchObject({ code: status.CANCELLED });
  await expect(streamCall(client, watchRun, watch, { signal }).next()).rejects.toMatchObject({
    code: status.CANCELLED,
  });
});

test('a stream deadline is kept', async () => {
  const { client } = await endless();
  const reading = (async () => {
    for await (const _ of streamCall(client, watchRun, watch, { deadlineMillis: 50 }));
  })();
  await expect(reading).rejects.toMatchObject({ code: status.DEADLINE_EXCEEDED });
});

test('a deadline beyond what grpc-js can count does not arrive as "expired"', async () => {
  const arrived = signalled<Date | undefined>();
  const { bound, address } = await startTestServer({
    orchestrator: {
      getRun: async (_request, { deadline }) => {
        arrived.resolve(deadline);
        return { run: undefined };
      },
    },
  });
  cleanups.push(() => bound.drain(0));
  const client = dial(address, OrchestratorServiceClient);
  cleanups.push(() => client.close());
  // 30 days: as milliseconds it is negative in 32 bits.
  const call = unaryCall(client, getRun, { runId: 1n }, { deadlineMillis: 30 * 24 * 60 * 60_000 });
  expect(await call).toEqual({ run: undefined });
  expect((await arrived.promise)?.getTime()).toBeGreaterThan(Date.now());
});

test('an orchestrator that is not there is UNAVAILABLE, with what the system said', async () => {
  const { bound, address } = await startTestServer();
  bound.drain(0);
  const client = dial(address, OrchestratorServiceClient);
  cleanups.push(() => client.close());
  await expect(unaryCall(client, getRun, { runId: 1n })).rejects.toMatchObject({
    code: status.UNAVAILABLE,
    reason: 'UNAVAILABLE',
    message: expect.stringContaining('ECONNREFUSED'),
  });
});

test('what is no gRPC error becomes UNKNOWN and keeps its cause', () => {
  const cause = new TypeError('odd');
  expect(fromServiceError(cause)).toMatchObject({ code: status.UNKNOWN, reason: 'UNKNOWN', cause });
  const own = new RpcError(status.ABORTED, 'OWN', 'ours');
  expect(fromServiceError(own)).toBe(own);
});
