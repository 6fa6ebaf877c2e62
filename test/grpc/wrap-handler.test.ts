import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { status } from '@grpc/grpc-js';
import { afterEach, expect, test } from 'vitest';
import { NodeAgentServiceClient, SubscribeResponse } from '../../gen/stageplane/v1/node_agent_service.js';
import { OrchestratorServiceClient, OrchestratorServiceService } from '../../gen/stageplane/v1/orchestrator_service.js';
import { dial, streamCall, unaryCall } from '../../src/grpc/client.js';
import { fromServiceError } from '../../src/grpc/from-service-error.js';
import type { CallContext } from '../../src/grpc/open-call.js';
import { RpcError } from '../../src/grpc/rpc-error.js';
import type { StreamEnd } from '../../src/grpc/stream-writer.js';
import { ending, signalled, startTestServer, type TestServer, type TestServerParts } from './test-server.js';

const cleanups: (() => unknown)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0).reverse()) cleanup();
});

const { getRun, stopRun, watchNodes } = OrchestratorServiceService;

async function serve(parts: TestServerParts): Promise<TestServer & { client: OrchestratorServiceClient }> {
  const running = await startTestServer(parts);
  const client = dial(running.address, OrchestratorServiceClient);
  cleanups.push(() => running.bound.drain(0));
  cleanups.push(() => client.close());
  return { ...running, client };
}

function silentClient(address: string): ChildProcess {
  const script = fileURLToPath(new URL('silent-client.mjs', import.meta.url));
  const child = spawn(process.execPath, [script, address], { stdio: ['ignore', 'pipe', 'inherit'] });
  cleanups.push(() => void child.kill('SIGKILL'));
  return child;
}

const anyResponse = SubscribeResponse.fromPartial({ message: { $case: 'reconciled', value: {} } });

test('an RpcError reaches the client with code, reason, figures and violations', async () => {
  const { client } = await serve({
    orchestrator: {
      getRun: async ({ runId }) => {
        throw new RpcError(status.NOT_FOUND, 'RUN_NOT_FOUND', `run ${runId} is unknown; list runs to see the ids`, {
          metadata: { runId: String(runId) },
          fieldViolations: [{ field: 'run_id', description: 'is unknown' }],
        });
      },
    },
  });
  await expect(unaryCall(client, getRun, { runId: 7n })).rejects.toMatchObject({
    code: status.NOT_FOUND,
    reason: 'RUN_NOT_FOUND',
    message: 'run 7 is unknown; list runs to see the ids',
    metadata: { runId: '7' },
    fieldViolations: [{ field: 'run_id', description: 'is unknown' }],
  });
});

test('a handler that rejects or throws answers INTERNAL with an incident id that the log explains', async () => {
  const secret = 'ENOENT /home/someone/.stageplane/state.db';
  const { client, address, log } = await serve({
    orchestrator: {
      getRun: async () => Promise.reject(new Error(secret)),
      stopRun: () => {
        throw new TypeError(secret);
      },
      watchNodes: async () => Promise.reject(secret),
      listNodes: async () => ({ nodes: [], nextPageToken: 'alive' }),
    },
    agent: {
      subscribe: async (requests) => {
        for await (const _ of requests) throw new Error(secret);
      },
    },
  });
  const agent = dial(address, NodeAgentServiceClient);
  cleanups.push(() => agent.close());
  const session = agent.subscribe();
  session.write({ message: undefined });
  const failures = [
    await new Promise<RpcError>((resolve) => session.on('error', (error) => resolve(fromServiceError(error)))),
    await unaryCall(client, getRun, { runId: 1n }).catch((error: RpcError) => error),
    await unaryCall(client, stopRun, { runId: 1n }).catch((error: RpcError) => error),
    await streamCall(client, watchNodes, {})
      .next()
      .catch((error: RpcError) => error),
  ] as RpcError[];
  for (const failure of failures) {
    expect(failure).toMatchObject({ code: status.INTERNAL, reason: 'INTERNAL' });
    const { incident } = failure.metadata;
    expect(failure.message).toContain(`incident ${incident}`);
    expect(JSON.stringify([failure.message, failure.metadata, failure.fieldViolations])).not.toContain('ENOENT');
    const entry = log.find((record) => record.incident === incident);
    expect(JSON.stringify(entry)).toContain(secret);
    expect(entry).toMatchObject({ msg: 'handler failed', method: expect.stringContaining('/stageplane.v1.') });
  }
  const after = await unaryCall(client, OrchestratorServiceService.listNodes, { pageSize: 1, pageToken: '' });
  expect(after.nextPageToken).toBe('alive');
});

test('a response that cannot be encoded is INTERNAL for the client and explained in the log', async () => {
  const { client, log } = await serve({
    orchestrator: {
      getRun: async () => ({ run: { runId: -1n } }) as never,
      watchNodes: async (_request, stream) => {
        stream.write({ update: { $case: 'progress', value: { revision: -1n } } });
        await stream.closed;
      },
    },
  });
  await expect(unaryCall(client, getRun, { runId: 1n })).rejects.toMatchObject({ code: status.INTERNAL });
  await expect(streamCall(client, watchNodes, {}).next()).rejects.toMatchObject({ code: status.INTERNAL });
  const explained = log.filter((record) => record.msg === 'response cannot be encoded');
  expect(explained.map((record) => record.method)).toEqual([getRun.path, watchNodes.path]);
});

test('the signal fires when the client cancels or its deadline passes, and never after an answer', async () => {
  const contexts: CallContext[] = [];
  const fired = [signalled(), signalled()];
  const { client, log } = await serve({
    orchestrator: {
      getRun: async (_request, context) => {
        const index = contexts.push(context) - 1;
        await new Promise<void>((resolve) => context.signal.addEventListener('abort', () => resolve()));
        fired[index]?.resolve();
        throw context.signal.reason;
      },
      stopRun: async (_request, context) => {
        contexts.push(context);
        return { run: undefined };
      },
    },
  });
  const abort = new AbortController();
  const cancelled = unaryCall(client, getRun, { runId: 1n }, { signal: abort.signal });
  const expired = unaryCall(client, getRun, { runId: 1n }, { deadlineMillis: 200 });
  await expect(expired).rejects.toMatchObject({ code: status.DEADLINE_EXCEEDED });
  abort.abort();
  await expect(cancelled).rejects.toMatchObject({ code: status.CANCELLED });
  await Promise.all(fired.map(({ promise }) => promise));
  // Nobody to tell and nothing broken: giving up is no incident.
  expect(log.filter((record) => record.msg === 'handler failed')).toEqual([]);

  await unaryCall(client, stopRun, { runId: 1n });
  // grpc-js says "cancelled" after this call too; a second round trip is certainly later than that.
  await unaryCall(client, stopRun, { runId: 1n });
  expect(contexts[2]?.signal.aborted).toBe(false);
});

test('method, peer and deadline are known, and stay known after the connection has closed', async () => {
  const seen = signalled<CallContext>();
  const { client } = await serve({
    orchestrator: {
      watchNodes: async (_request, stream, context) => {
        stream.write({ update: undefined });
        await stream.closed;
        seen.resolve(context);
      },
    },
  });
  const watching = streamCall(client, watchNodes, {}, { deadlineMillis: 50_000 });
  await watching.next();
  client.close();
  await watching.return();
  const context = await seen.promise;
  expect(context.peer).toMatch(/^127\.0\.0\.1:\d+$/);
  expect(context.method).toBe('/stageplane.v1.OrchestratorService/WatchNodes');
  expect(context.deadline?.getTime()).toBeGreaterThan(Date.now());
});

test('a session client killed with SIGKILL ends the requests and the stream, and the server lives on', async () => {
  const ended = signalled<{ received: number; aborted: boolean; end: StreamEnd }>();
  const { address, client, log } = await serve({
    orchestrator: { listNodes: async () => ({ nodes: [], nextPageToken: 'alive' }) },
    agent: {
      subscribe: async (requests, stream, { signal }) => {
        let received = 0;
        for await (const _ of requests) {
          received += 1;
          stream.write(anyResponse);
        }
        const end = await stream.closed;
        ended.resolve({ received, aborted: signal.aborted, end });
      },
    },
  });
  const child = silentClient(address);
  await once(child.stdout!, 'data');
  child.kill('SIGKILL');
  expect(await ended.promise).toEqual({ received: 1, aborted: true, end: { kind: 'gone' } });
  expect(log.filter((record) => record.msg === 'handler failed')).toEqual([]);
  const after = await unaryCall(client, OrchestratorServiceService.listNodes, { pageSize: 1, pageToken: '' });
  expect(after.nextPageToken).toBe('alive');
});

test('a frozen client is noticed by keepalive', async () => {
  const ended = signalled<StreamEnd>();
  const { address } = await serve({
    options: { 'grpc.keepalive_time_ms': 200, 'grpc.keepalive_timeout_ms': 200 },
    agent: {
      subscribe: async (_requests, stream) => {
        stream.write(anyResponse);
        ended.resolve(await stream.closed);
      },
    },
  });
  const child = silentClient(address);
  await once(child.stdout!, 'data');
  child.kill('SIGSTOP');
  expect(await ended.promise).toEqual({ kind: 'gone' });
});

test('a failing session keeps its status although requests are still being read', async () => {
  const { address } = await serve({
    agent: {
      subscribe: async (requests, stream) => {
        for await (const _ of requests) {
          stream.write(anyResponse);
          stream.write(anyResponse);
          stream.fail(new RpcError(status.ALREADY_EXISTS, 'NODE_CONNECTED', 'node alpha is connected already'));
        }
      },
    },
  });
  const agent = dial(address, NodeAgentServiceClient);
  cleanups.push(() => agent.close());
  const call = agent.subscribe();
  let received = 0;
  call.on('data', () => {
    received += 1;
  });
  call.write({ message: undefined });
  call.on('error', () => {});
  expect(await ending(call)).toMatchObject({ code: status.ALREADY_EXISTS, details: 'node alpha is connected already' });
  expect(received).toBe(2);
});

test('messages keep their order through a session, and a clean end answers OK', async () => {
  const count = 2000;
  const { address } = await serve({
    agent: {
      subscribe: async (requests, stream) => {
        for await (const { message } of requests) {
          if (message?.$case !== 'ack') continue;
          stream.write({ message: { $case: 'heartbeatAck', value: { sequence: message.value.deliveryId } } });
          await stream.ready();
        }
      },
    },
  });
  const agent = dial(address, NodeAgentServiceClient);
  cleanups.push(() => agent.close());
  const call = agent.subscribe();
  const received: bigint[] = [];
  call.on('data', ({ message }: SubscribeResponse) => {
    if (message?.$case === 'heartbeatAck') received.push(message.value.sequence);
  });
  for (let id = 0n; id < count; id += 1n) call.write({ message: { $case: 'ack', value: { deliveryId: id } } });
  call.end();
  const { code } = await ending(call);
  expect(code).toBe(status.OK);
  expect(received).toEqual(Array.from({ length: count }, (_, id) => BigInt(id)));
});
