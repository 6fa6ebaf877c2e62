import assert from 'node:assert/strict';
import { once } from 'node:events';
import http2, { type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import { expect, test } from 'vitest';
import { type NodeCondition, NodeConditionType } from '../../gen/stageplane/v1/node.js';
import { OrchestratorServiceService as Service } from '../../gen/stageplane/v1/orchestrator_service.js';
import { unaryCall } from '../../src/grpc/client.js';
import type { Random } from '../sim/random.js';
import { type RunningOrchestrator, runOrchestrator } from '../support/running-orchestrator.js';
import { runSecured } from '../support/secured-orchestrator.js';
import { fuzz, fuzzTimeout } from './fuzz.js';
import { Doors } from './grpc-doors.js';
import { methods, pathOf } from './grpc-methods.js';
import { heapBytes } from './heap-bytes.js';
import { mutateBytes } from './mutate-bytes.js';
import { randomMessage, randomTexts } from './random-message.js';

/** Over what the server takes of one message. */
const MOST_BYTES = 2 * 1024 * 1024;
const STALLED_MILLIS = 1000;
const HEAP_GROWTH_BYTES = 96 * 1024 * 1024;
/** An input is the number of a method and what is sent to it. */
const seeds = methods.map((_, index) => Buffer.of(index, 0, 0, 0, 0, 0));

test('calls with hostile bytes end in a status, and leave nothing behind', { timeout: fuzzTimeout }, async () => {
  const orchestrator = await runOrchestrator();
  const doors = new Doors(orchestrator, await runSecured());
  const heapBefore = heapBytes();
  const outcomes = await fuzz({ name: 'grpc', seeds, mutate: mutateCall, run: (input) => runCall(input, doors) });
  await unaryCall(orchestrator.client, Service.listNodes, { pageSize: 1, pageToken: '' });
  doors.close();
  await expectNobody(orchestrator);
  expect(heapBytes() - heapBefore).toBeLessThan(HEAP_GROWTH_BYTES);
  const reached = new Set([...outcomes.keys()].map((outcome) => outcome.split(' ')[0]));
  expect(methods.map(({ name }) => name).filter((name) => !reached.has(name))).toEqual([]);
  expect(outcomes.size).toBeGreaterThan(50);
});

const isConnected = ({ type, met }: NodeCondition) => met && type === NodeConditionType.NODE_CONDITION_TYPE_CONNECTED;

async function expectNobody({ client }: RunningOrchestrator): Promise<void> {
  const connected = async () => {
    const { nodes } = await unaryCall(client, Service.listNodes, { pageSize: 1000, pageToken: '' });
    return nodes.filter(({ conditions }) => conditions.some(isConnected)).length;
  };
  await expect.poll(connected, { timeout: 10_000 }).toBe(0);
}

function mutateCall(input: Buffer, random: Random): Buffer {
  const index = random.chance(0.8) ? random.int(0, methods.length - 1) : input[0]!;
  const method = methods[index % methods.length]!;
  if (random.chance(0.3))
    return Buffer.concat([input.subarray(0, 1), mutateBytes(Buffer.from(input.subarray(1)), random)]);
  const count = random.chance(0.9) && !method.asksOften ? 1 : random.int(1, 5);
  const frames = Array.from({ length: count }, () =>
    frameOf(method.input ? randomMessage(method.input, random) : randomTexts(random), random),
  );
  return Buffer.concat([Buffer.of(index), ...frames]).subarray(0, MOST_BYTES);
}

/** A gRPC frame, mostly with the length of its message. */
function frameOf(message: Uint8Array, random: Random): Buffer {
  const head = Buffer.alloc(5);
  head[0] = random.chance(0.97) ? 0 : random.pick([1, 2, 255]);
  const length = message.length + (random.chance(0.95) ? 0 : random.pick([-1, 1, 100, 2 ** 31]));
  head.writeUInt32BE(Math.max(0, length), 1);
  return Buffer.concat([head, message]);
}

async function runCall(input: Buffer, doors: Doors): Promise<string> {
  const method = methods[(input[0] ?? 0) % methods.length]!;
  const session = doors.to(method);
  // A client may stall its own connection, with bytes that nobody reads any more: the server owes it nothing then.
  const patience = setTimeout(() => session.destroy(), STALLED_MILLIS);
  const stream = session.request({
    ':method': 'POST',
    ':path': pathOf(method),
    'content-type': 'application/grpc',
    te: 'trailers',
  });
  const status = statusOf(stream);
  stream.resume().end(input.subarray(1));
  if (method.answersOften) await Promise.race([cancelSoon(session, stream), status]);
  const outcome = await status;
  clearTimeout(patience);
  return `${method.name} ${session.destroyed ? 'stalled' : outcome}`;
}

/** A stream that the server would keep open is left when it has had a round trip's time to refuse. */
async function cancelSoon(session: ClientHttp2Session, stream: ClientHttp2Stream): Promise<void> {
  for (let turn = 0; turn < 3 && !stream.closed && !session.destroyed; turn++) {
    await new Promise<void>((resolve) => {
      if (!session.ping(() => resolve())) resolve();
    });
  }
  if (!stream.closed) stream.close(http2.constants.NGHTTP2_CANCEL);
}

/** A handler that threw what it did not mean to would show as an incident. */
async function statusOf(stream: ClientHttp2Stream): Promise<string> {
  let status = 'reset';
  const note = (headers: Record<string, unknown>) => {
    if (headers['grpc-status'] === undefined) return;
    status = `status ${headers['grpc-status']}`;
    assert.doesNotMatch(String(headers['grpc-message']), /incident/i);
  };
  let failure: unknown;
  const guarded = (headers: Record<string, unknown>) => {
    try {
      note(headers);
    } catch (error) {
      failure = error;
    }
  };
  stream
    .on('response', guarded)
    .on('trailers', guarded)
    .on('error', () => {});
  await once(stream, 'close').catch(() => {});
  if (failure !== undefined) throw failure;
  return status;
}
