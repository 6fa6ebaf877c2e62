import { type ClientReadableStream, status } from '@grpc/grpc-js';
import { afterEach, expect, test } from 'vitest';
import { Node } from '../../gen/stageplane/v1/node.js';
import {
  OrchestratorServiceClient,
  OrchestratorServiceService,
  type WatchNodesResponse,
} from '../../gen/stageplane/v1/orchestrator_service.js';
import { limits } from '../../src/core/limits.js';
import { dial, unaryCall } from '../../src/grpc/client.js';
import { RpcError } from '../../src/grpc/rpc-error.js';
import { decodeStatusDetails } from '../../src/grpc/status-details.js';
import type { StreamEnd, StreamWriter } from '../../src/grpc/stream-writer.js';
import { ending, signalled, startTestServer, stopReadingAfterFirst } from './test-server.js';

const cleanups: (() => unknown)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0).reverse()) cleanup();
});

type Writer = StreamWriter<WatchNodesResponse>;

/** A server whose WatchNodes runs `body`, and a client's open call to it. */
async function watch(body: (stream: Writer) => Promise<void>): Promise<{
  call: ClientReadableStream<WatchNodesResponse>;
  client: OrchestratorServiceClient;
  log: Record<string, unknown>[];
}> {
  const { bound, address, log } = await startTestServer({
    orchestrator: {
      watchNodes: async (_request, stream) => body(stream),
      listNodes: async () => ({ nodes: [], nextPageToken: 'alive' }),
    },
  });
  const client = dial(address, OrchestratorServiceClient);
  cleanups.push(() => bound.drain(0));
  cleanups.push(() => client.close());
  const call = client.watchNodes({});
  call.on('error', () => {});
  return { call, client, log };
}

const progress = (revision: number): WatchNodesResponse => ({
  update: { $case: 'progress', value: { revision: BigInt(revision) } },
});

/** A message of about 10 kB, so that the windows of HTTP/2 are full soon. */
function bigNode(id: number, name = 'x'.repeat(10_000)): WatchNodesResponse {
  return { update: { $case: 'node', value: Node.fromPartial({ nodeId: BigInt(id), name }) } };
}

test('a consumer that does not read is dropped with RESOURCE_EXHAUSTED, and memory stays bounded (I16)', async () => {
  const left = signalled<{ accepted: number; end: StreamEnd; most: number; later: boolean }>();
  const { call, client } = await watch(async (stream) => {
    let accepted = 0;
    let most = 0;
    while (stream.write(bigNode(accepted))) {
      accepted += 1;
      most = Math.max(most, stream.queued);
      // The client gets every chance to read.
      if (accepted % 64 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    left.resolve({ accepted, most, end: await stream.closed, later: stream.write(progress(0)) });
  });
  const paused = stopReadingAfterFirst(call);
  await paused;
  const { accepted, most, end, later } = await left.promise;
  expect(end).toMatchObject({ kind: 'failed', error: { code: status.RESOURCE_EXHAUSTED, reason: 'SLOW_CONSUMER' } });
  expect(most).toBe(limits.queuedPerStream);
  // What HTTP/2 and grpc-js took before they were full; the rest was queued here.
  expect(accepted - most).toBeLessThan(200);
  expect(later).toBe(false);

  // The server serves others meanwhile, and the slow client learns why once it reads.
  const page = await unaryCall(client, OrchestratorServiceService.listNodes, { pageSize: 1, pageToken: '' });
  expect(page.nextPageToken).toBe('alive');
  const failed = ending(call);
  call.resume();
  const { code, metadata } = await failed;
  expect(code).toBe(status.RESOURCE_EXHAUSTED);
  expect(decodeStatusDetails(metadata)?.reason).toBe('SLOW_CONSUMER');
});

test('a producer with more to say than the queue holds waits until the client has caught up', async () => {
  const count = limits.queuedPerStream + 500;
  const { call } = await watch(async (stream) => {
    for (let revision = 0; revision < count; revision += 1) {
      stream.write(progress(revision));
      await stream.ready();
    }
  });
  const received: number[] = [];
  for await (const { update } of call) if (update?.$case === 'progress') received.push(Number(update.value.revision));
  expect(received).toEqual(Array.from({ length: count }, (_, revision) => revision));
});

test('everything queued goes out before a clean end', async () => {
  const queued = signalled<number>();
  const { call } = await watch(async (stream) => {
    for (let revision = 0; revision < 1000; revision += 1) stream.write(bigNode(revision));
    queued.resolve(stream.queued);
    // The body returns with messages queued: the wrapper ends the stream after them.
  });
  const paused = stopReadingAfterFirst(call);
  await paused;
  expect(await queued.promise).toBeGreaterThan(800);
  let received = 1;
  call.on('data', () => {
    received += 1;
  });
  call.resume();
  const { code } = await ending(call);
  expect([code, received]).toEqual([status.OK, 1000]);
});

test('nothing is written after the end, and the first end wins', async () => {
  const answers = signalled<unknown[]>();
  const { call } = await watch(async (stream) => {
    const before = stream.write(progress(1));
    stream.fail(new RpcError(status.ABORTED, 'FIRST', 'the first reason'));
    stream.fail(new RpcError(status.INTERNAL, 'SECOND', 'the second reason'));
    stream.end();
    answers.resolve([before, stream.write(progress(2)), stream.isOpen, (await stream.closed).kind]);
  });
  let received = 0;
  call.on('data', () => {
    received += 1;
  });
  const { code, details } = await ending(call);
  expect(await answers.promise).toEqual([true, false, false, 'failed']);
  expect([code, details, received]).toEqual([status.ABORTED, 'the first reason', 1]);
});

test('whoever waits for a full stream is released when its client cancels', async () => {
  const released = signalled<StreamEnd>();
  const waiting = signalled();
  const { call } = await watch(async (stream) => {
    while (stream.queued === 0) stream.write(bigNode(0));
    const ready = stream.ready();
    waiting.resolve();
    await ready;
    // A raw write would return true here and never call back.
    expect(stream.write(progress(1))).toBe(false);
    released.resolve(await stream.closed);
  });
  const paused = stopReadingAfterFirst(call);
  await paused;
  await waiting.promise;
  call.cancel();
  expect(await released.promise).toEqual({ kind: 'gone' });
});

test('a lone surrogate in a message or in an error breaks neither stream nor server', async () => {
  const { call, client } = await watch(async (stream) => {
    stream.write(bigNode(1, 'half \ud83d of a pair'));
    throw new RpcError(status.ABORTED, 'BROKEN_NAME', 'node half \ud83d of a pair is gone');
  });
  const names: string[] = [];
  call.on('data', ({ update }: WatchNodesResponse) => {
    if (update?.$case === 'node') names.push(update.value.name);
  });
  const { code, details } = await ending(call);
  expect([code, details]).toEqual([status.ABORTED, 'node half \ufffd of a pair is gone']);
  expect(names).toEqual(['half \ufffd of a pair']);
  const page = await unaryCall(client, OrchestratorServiceService.listNodes, { pageSize: 1, pageToken: '' });
  expect(page.nextPageToken).toBe('alive');
});
