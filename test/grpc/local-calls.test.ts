import { status } from '@grpc/grpc-js';
import pino from 'pino';
import { expect, it } from 'vitest';
import { OrchestratorServiceService as Service } from '../../gen/stageplane/v1/orchestrator_service.js';
import { limits } from '../../src/core/limits.js';
import type { ServiceBodies } from '../../src/grpc/add-service.js';
import { type Admit, localCalls } from '../../src/grpc/local-calls.js';
import type { CallContext } from '../../src/grpc/open-call.js';
import { OpenStreams } from '../../src/grpc/open-streams.js';
import { RpcError } from '../../src/grpc/rpc-error.js';

type Bodies = ServiceBodies<typeof Service>;

const streams = new OpenStreams();
const surroundings = { logger: pino({ level: 'silent' }), streams };
const from = (signal = new AbortController().signal) => ({ peer: '127.0.0.1:4711', signal });
const callsWith = (bodies: Partial<Bodies>, admit: Admit = () => {}) =>
  localCalls(Service, bodies as Bodies, admit, surroundings);

it('answers a unary call, and says who called', async () => {
  let seen: CallContext | undefined;
  const calls = callsWith({
    deleteRun: async (_request, context) => {
      seen = context;
      return {};
    },
  });
  const key = { id: 'k1', name: 'lab', role: 'launcher' as const };
  expect(await calls.deleteRun({ runId: 7n }, { ...from(), key })).toEqual({});
  expect(seen).toMatchObject({ method: '/stageplane.v1.OrchestratorService/DeleteRun', peer: '127.0.0.1:4711', key });
});

it('refuses what may not be called, and what is no request, before the body hears of it', async () => {
  const bodies = { generate: async () => expect.unreachable(), createRun: async () => expect.unreachable() };
  const no = new RpcError(status.PERMISSION_DENIED, 'ROLE_MISSING', 'no');
  const admit = () => {
    throw no;
  };
  const request = { requestId: '', plan: undefined } as never;
  await expect(callsWith(bodies, admit).createRun(request, from())).rejects.toBe(no);
  await expect(callsWith(bodies).createRun(request, from())).rejects.toMatchObject({ reason: 'INVALID_FIELDS' });
  await expect(
    callsWith(bodies, admit)
      .generate({ runId: 1n } as never, from())
      .next(),
  ).rejects.toBe(no);
});

it('hides what a body throws behind an incident', async () => {
  const boom = async () => {
    throw new Error('ENOENT: /srv/secret');
  };
  const calls = callsWith({ deleteRun: boom, watchNodes: boom });
  await expect(calls.deleteRun({ runId: 7n }, from())).rejects.toMatchObject({ reason: 'INTERNAL' });
  await expect(calls.watchNodes({}, from()).next()).rejects.toMatchObject({ reason: 'INTERNAL' });
});

it('streams in order, waits for a reader that is behind, and ends with the body', async () => {
  const count = 10 * limits.queuedPerStream;
  const calls = callsWith({
    async watchNodes(_request, stream) {
      for (let id = 0; id < count; id += 1) {
        if (!stream.write({ update: { $case: 'removedNodeId', value: BigInt(id) } })) return;
        await stream.ready();
      }
    },
  });
  const seen: unknown[] = [];
  for await (const { update } of calls.watchNodes({}, from())) seen.push(update?.value);
  expect(seen).toEqual(Array.from({ length: count }, (_, id) => BigInt(id)));
});

it('drops a reader that never reads, with the words of gRPC', async () => {
  let written = 0;
  const calls = callsWith({
    async watchNodes(_request, stream) {
      while (stream.write({ update: { $case: 'removedNodeId', value: 1n } })) written += 1;
      await stream.closed;
    },
  });
  const stream = calls.watchNodes({}, from());
  const all = async () => {
    for await (const _ of stream);
  };
  await expect(all()).rejects.toMatchObject({ reason: 'SLOW_CONSUMER' });
  expect(written).toBeLessThan(limits.queuedPerStream + 100);
});

it.each(['signal', 'leaving'] as const)('tells the body when its reader goes: %s', async (way) => {
  let gone: string | undefined;
  const calls = callsWith({
    async watchNodes(_request, stream, { signal }) {
      stream.write({ update: { $case: 'removedNodeId', value: 1n } });
      gone = (await stream.closed).kind;
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
    },
  });
  const abort = new AbortController();
  for await (const _ of calls.watchNodes({}, from(abort.signal))) {
    if (way === 'leaving') break;
    abort.abort();
  }
  expect(gone).toBe('gone');
});

it('ends streams with the server, saying so', async () => {
  const open = new OpenStreams();
  const bodies = {
    watchNodes: async (_request: unknown, stream: { closed: Promise<unknown> }) => void (await stream.closed),
  };
  const calls = localCalls(Service, bodies as unknown as Bodies, () => {}, { ...surroundings, streams: open });
  const first = calls.watchNodes({}, from()).next();
  expect(open.size).toBe(1);
  open.failAll(new RpcError(status.UNAVAILABLE, 'SHUTTING_DOWN', 'the orchestrator is stopping'));
  await expect(first).rejects.toMatchObject({ reason: 'SHUTTING_DOWN' });
});
