import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { OrchestratorServiceService as Service } from '../../gen/stageplane/v1/orchestrator_service.js';
import { unaryCall } from '../../src/grpc/client.js';
import { RpcError } from '../../src/grpc/rpc-error.js';
import type { Random } from '../sim/random.js';
import { http2Frame, preface, times } from '../support/http2-frames.js';
import { runOrchestrator } from '../support/running-orchestrator.js';
import { fuzz, fuzzTimeout } from './fuzz.js';
import { heapBytes } from './heap-bytes.js';
import { mutateBytes } from './mutate-bytes.js';

// Before anything reads it: a connection that has said all is let go at once or after this, and nobody can wait for the usual.
vi.hoisted(() => {
  process.env.STAGEPLANE_PATIENCE_MILLIS = '1000';
  process.env.STAGEPLANE_KEEPALIVE_MILLIS = '1000';
});

const HEAP_GROWTH_BYTES = 96 * 1024 * 1024;

test('floods on the port end that connection at most', { timeout: fuzzTimeout }, async () => {
  const orchestrator = await runOrchestrator();
  const heapBefore = heapBytes();
  const ask = () => patiently(() => unaryCall(orchestrator.client, Service.listNodes, { pageSize: 1, pageToken: '' }));
  const run = (input: Buffer) => flood(orchestrator.address, input, ask);
  await fuzz({ name: 'http2', seeds: floods, mutate: mutateFlood, run });
  const stuck = () => [...halfClosed.values()].map((bytes) => bytes.toString('hex'));
  await expect.poll(stuck, { timeout: 40_000 }).toEqual([]);
  await ask();
  expect(heapBytes() - heapBefore).toBeLessThan(HEAP_GROWTH_BYTES);
});

/** Asks as fast as this machine goes, and waits when it is told to. */
async function patiently<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof RpcError) || error.reason !== 'TOO_MANY_CALLS') throw error;
      await pause(Number(error.metadata.retryAfterMillis));
    }
  }
}

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

/** What was sent over those that have said all and wait for the server to let them go. */
const halfClosed = new Map<Socket, Buffer>();

/** An honest client is answered beside it. */
async function flood(address: string, bytes: Buffer, ask: () => Promise<unknown>): Promise<string> {
  const [host, port] = address.split(':');
  const socket = connect({ host, port: Number(port), allowHalfOpen: true }).on('error', () => {});
  let outcome = 'unanswered';
  socket.on('data', () => {
    outcome = 'answered';
  });
  socket.on('end', () => {
    outcome = `${outcome}, ended`;
  });
  socket.write(bytes);
  await ask();
  await ask();
  if (socket.closed) return outcome;
  halfClosed.set(socket, bytes);
  socket.once('close', () => halfClosed.delete(socket)).end();
  await ask();
  return socket.closed ? outcome : `${outcome}, then half closed`;
}
