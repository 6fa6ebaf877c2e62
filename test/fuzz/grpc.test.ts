import assert from 'node:assert/strict';
import { once } from 'node:events';
import http2, { type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import { connect } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { type NodeCondition, NodeConditionType } from '../../gen/stageplane/v1/node.js';
import { OrchestratorServiceService as Service } from '../../gen/stageplane/v1/orchestrator_service.js';
import { unaryCall } from '../../src/grpc/client.js';
import { descriptorSet } from '../../src/grpc/descriptor-set.js';
import type { Random } from '../sim/random.js';
import { type RunningOrchestrator, runOrchestrator } from '../support/running-orchestrator.js';
import { fuzz, fuzzTimeout } from './fuzz.js';
import { mutateBytes } from './mutate-bytes.js';
import { randomMessage } from './random-message.js';

/** Over what the server takes of one message. */
const MOST_BYTES = 2 * 1024 * 1024;
const STALLED_MILLIS = 5000;
const HEAP_GROWTH_BYTES = 96 * 1024 * 1024;
const services = ['stageplane.v1.OrchestratorService', 'stageplane.v1.NodeAgentService'];
const methods = services.flatMap((name) => descriptorSet().registry.getService(name)!.methods);

/** An input is the number of a method and what is sent to it. */
const seeds = methods.map((_, index) => Buffer.of(index, 0, 0, 0, 0, 0));

test('calls with hostile bytes end in a status, and leave nothing behind', { timeout: fuzzTimeout }, async () => {
  const orchestrator = await runOrchestrator();
  const connection = new Connection(orchestrator.address);
  const heapBefore = heapBytes();
  const outcomes = await fuzz({ name: 'grpc', seeds, mutate: mutateCall, run: (input) => runCall(input, connection) });
  await unaryCall(orchestrator.client, Service.listNodes, { pageSize: 1, pageToken: '' });
  connection.session.destroy();
  await expectNobody(orchestrator);
  expect(heapBytes() - heapBefore).toBeLessThan(HEAP_GROWTH_BYTES);
  expect(outcomes.size).toBeGreaterThan(25);
});

test('floods on the port end that connection at most', { timeout: fuzzTimeout }, async () => {
  const orchestrator = await runOrchestrator();
  const heapBefore = heapBytes();
  const ask = () => unaryCall(orchestrator.client, Service.listNodes, { pageSize: 1, pageToken: '' });
  const run = (input: Buffer) => flood(orchestrator.address, input, ask);
  await fuzz({ name: 'http2', seeds: floods, mutate: mutateFlood, run });
  await expectNobody(orchestrator);
  expect(heapBytes() - heapBefore).toBeLessThan(HEAP_GROWTH_BYTES);
});

const isConnected = ({ type, met }: NodeCondition) => met && type === NodeConditionType.NODE_CONDITION_TYPE_CONNECTED;

async function expectNobody({ client }: RunningOrchestrator): Promise<void> {
  const connected = async () => {
    const { nodes } = await unaryCall(client, Service.listNodes, { pageSize: 1000, pageToken: '' });
    return nodes.filter(({ conditions }) => conditions.some(isConnected)).length;
  };
  await expect.poll(connected, { timeout: 10_000 }).toBe(0);
}

/** What is held after the collector has been through. */
function heapBytes(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed;
}

function mutateCall(input: Buffer, random: Random): Buffer {
  const index = random.chance(0.8) ? random.int(0, methods.length - 1) : input[0]!;
  const method = methods[index % methods.length]!;
  if (random.chance(0.3))
    return Buffer.concat([input.subarray(0, 1), mutateBytes(Buffer.from(input.subarray(1)), random)]);
  const count = random.chance(0.9) && method.methodKind !== 'bidi_streaming' ? 1 : random.int(1, 5);
  const frames = Array.from({ length: count }, () => frameOf(randomMessage(method.input, random), random));
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

/** One connection for many calls, and another when it has broken. */
class Connection {
  #session: ClientHttp2Session | undefined;

  constructor(private readonly address: string) {}

  get session(): ClientHttp2Session {
    if (this.#session === undefined || this.#session.closed || this.#session.destroyed) {
      this.#session = http2.connect(`http://${this.address}`).on('error', () => {});
    }
    return this.#session;
  }
}

async function runCall(input: Buffer, connection: Connection): Promise<string> {
  const { session } = connection;
  const method = methods[(input[0] ?? 0) % methods.length]!;
  // A client may stall its own connection, with bytes that nobody reads any more: the server owes it nothing then.
  const patience = setTimeout(() => session.destroy(), STALLED_MILLIS);
  const stream = session.request({
    ':method': 'POST',
    ':path': `/${method.parent.typeName}/${method.name}`,
    'content-type': 'application/grpc',
    te: 'trailers',
  });
  const status = statusOf(stream);
  stream.resume().end(input.subarray(1));
  if (method.methodKind !== 'unary') await Promise.race([cancelSoon(session, stream), status]);
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

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

function http2Frame(type: number, flags: number, stream: number, payload: Uint8Array = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

const times = (count: number, frame: (index: number) => Buffer) =>
  Buffer.concat(Array.from({ length: count }, (_, index) => frame(index)));
const settings = http2Frame(4, 0, 0);
/** `:method: POST`, `:scheme: http`, `:path: /`, from the static table. */
const headers = (stream: number) => http2Frame(1, 4, stream, Buffer.of(0x83, 0x86, 0x84));
const opened = [preface, settings];

/** Pings, settings, streams that are reset at once, headers that never end, windows, priorities, empty data. */
const floods: readonly Buffer[] = [
  times(500, () => http2Frame(6, 0, 0, Buffer.alloc(8))),
  times(500, () => http2Frame(4, 0, 0, Buffer.of(0, 4, 0, 0, 255, 255))),
  times(300, (index) =>
    Buffer.concat([headers(2 * index + 1), http2Frame(3, 0, 2 * index + 1, Buffer.of(0, 0, 0, 8))]),
  ),
  Buffer.concat([http2Frame(1, 0, 1, Buffer.of(0x83)), times(300, () => http2Frame(9, 0, 1, Buffer.of(0x86)))]),
  times(300, () => http2Frame(8, 0, 0, Buffer.of(0, 0, 0, 1))),
  times(300, (index) => http2Frame(2, 0, 2 * index + 1, Buffer.alloc(5))),
  Buffer.concat([headers(1), times(300, () => http2Frame(0, 0, 1))]),
].map((frames) => Buffer.concat([...opened, frames]));

/** Frames again and again, or any bytes at all. */
function mutateFlood(input: Buffer, random: Random): Buffer {
  const changed = mutateBytes(input, random);
  return (random.chance(0.2) ? Buffer.concat([changed, changed.subarray(preface.length)]) : changed).subarray(
    0,
    65_536,
  );
}

/** The connection is left once an honest client was answered beside it. */
async function flood(address: string, bytes: Buffer, ask: () => Promise<unknown>): Promise<string> {
  const [host, port] = address.split(':');
  const socket = connect(Number(port), host).on('error', () => {});
  let outcome = 'unanswered';
  socket.on('data', () => {
    outcome = 'answered';
  });
  socket.on('end', () => {
    outcome = 'ended';
  });
  socket.write(bytes);
  await ask();
  await ask();
  const closed = once(socket, 'close');
  if (!socket.closed) {
    socket.destroy();
    await closed;
  }
  return outcome;
}
