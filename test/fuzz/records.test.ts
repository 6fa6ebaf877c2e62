import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { limits } from '../../src/core/limits.js';
import { listenForEdge } from '../../src/worker/edge/edge-listener.js';
import { encodePreamble, PREAMBLE_BYTES } from '../../src/worker/edge/edge-preamble.js';
import { HEADER_BYTES, type ObjectRecord } from '../../src/worker/edge/object-record.js';
import { RecordDecoder } from '../../src/worker/edge/record-decoder.js';
import type { Random } from '../sim/random.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { CHUNKING_BYTES, chunksOf, withChunking } from './chunks.js';
import { fuzz, fuzzTimeout } from './fuzz.js';
import { mutateBytes } from './mutate-bytes.js';
import { contract, honestStreams, mutateRecords } from './record-stream.js';

const folder = temporaryFolder(afterAll);

interface Said {
  readonly objects: readonly ObjectRecord[];
  readonly end: string;
}

test('the decoder says of any stream what its format says, however it is cut', { timeout: fuzzTimeout }, async () => {
  const run = (input: Buffer) => {
    const said = decode(chunksOf(input));
    assert.deepEqual(said, expected(input.subarray(CHUNKING_BYTES)));
    return `${Math.min(said.objects.length, 4)} objects, ${said.end}`;
  };
  const outcomes = await fuzz({ name: 'records', seeds: honestStreams, mutate: mutateRecords, run });
  expect(new Set([...outcomes.keys()].map((outcome) => outcome.split(', ')[1])).size).toBe(10);
});

test('a listener passes on what is whole and ends with one fault', { timeout: fuzzTimeout }, async () => {
  const seeds = honestStreams.map((stream) =>
    withChunking(Buffer.concat([encodePreamble(contract), stream.subarray(CHUNKING_BYTES)])),
  );
  const outcomes = await fuzz({ name: 'edge-socket', seeds, mutate: mutateConnection, run: runListener });
  expect(outcomes.size).toBeGreaterThan(8);
});

function decode(chunks: readonly Buffer[]): Said {
  const decoder = new RecordDecoder(contract);
  const objects: ObjectRecord[] = [];
  for (const chunk of chunks) {
    decoder.push(chunk);
    for (;;) {
      const decoded = decoder.next(Number.POSITIVE_INFINITY);
      if (decoded.kind === 'fault') return { objects, end: decoded.fault.kind };
      if (decoded.kind !== 'object') break;
      objects.push({ ...decoded.object, payload: Buffer.from(decoded.object.payload) });
    }
  }
  return { objects, end: decoder.end().kind };
}

/** The format once more, with all bytes at hand. */
function expected(bytes: Buffer): Said {
  const objects: ObjectRecord[] = [];
  const due = new Map<bigint, bigint>();
  for (let at = 0; ; ) {
    if (at === bytes.length) return { objects, end: 'closed' };
    if (at + HEADER_BYTES > bytes.length) return { objects, end: 'end-inside-object' };
    const [session, sequence, extent] = [8, 16, 24].map((offset) => bytes.readBigUInt64LE(at + offset)) as [
      bigint,
      bigint,
      bigint,
    ];
    const flags = bytes.readUInt32LE(at + 32);
    const end = problemOf(bytes.subarray(at, at + HEADER_BYTES), extent, flags);
    if (end !== undefined) return { objects, end };
    if (sequence !== (due.get(session) ?? 0n)) return { objects, end: 'wrong-sequence' };
    if (!due.has(session) && due.size === limits.sessionsPerStage) return { objects, end: 'too-many-sessions' };
    if (flags === 2) due.delete(session);
    else due.set(session, sequence + 1n);
    const next = at + HEADER_BYTES + Number(extent);
    if (next > bytes.length) return { objects, end: 'end-inside-object' };
    objects.push({ session, sequence: Number(sequence), flags, payload: bytes.subarray(at + HEADER_BYTES, next) });
    at = next;
  }
}

function problemOf(header: Buffer, extent: bigint, flags: number): string | undefined {
  if (header.toString('latin1', 0, 4) !== 'MO01') return 'wrong-magic';
  if (header.readUInt16LE(4) !== 1) return 'wrong-version';
  if (header.readUInt16LE(6) !== 40) return 'wrong-header-length';
  if (header.readUInt32LE(36) !== 0) return 'wrong-reserved';
  if (extent > BigInt(flags === 32 ? limits.samplingBytes : contract.maxExtent)) return 'extent-over-max';
  if (extent % BigInt(contract.alignment) !== 0n) return 'wrong-alignment';
  const fits = { 0: extent > 0n, 1: extent > 0n, 2: true, 4: extent === 0n, 16: extent === 4n, 32: true }[flags];
  return fits ? undefined : 'wrong-flags';
}

function mutateConnection(input: Buffer, random: Random): Buffer {
  const [chunking, rest] = [input.readUInt32LE(0), input.subarray(CHUNKING_BYTES)];
  const [preamble, records] = [rest.subarray(0, PREAMBLE_BYTES), rest.subarray(PREAMBLE_BYTES)];
  if (random.chance(0.1))
    return withChunking(Buffer.concat([mutateBytes(Buffer.from(preamble), random), records]), chunking);
  const changed = mutateRecords(withChunking(records), random);
  return withChunking(Buffer.concat([preamble, changed.subarray(CHUNKING_BYTES)]), changed.readUInt32LE(0));
}

let sockets = 0;

async function runListener(input: Buffer): Promise<string> {
  sockets += 1;
  const path = join(folder, `${sockets}.sock`);
  const objects: ObjectRecord[] = [];
  const ends: string[] = [];
  const listened = await listenForEdge(path, contract, {
    onReady: () => assert.equal(objects.length, 0),
    onObject: (object) => {
      assert.equal(ends.length, 0);
      objects.push({ ...object, payload: Buffer.from(object.payload) });
      // Later, so that the ring fills and the socket has to wait.
      setImmediate(() => listened.kind === 'listening' && listened.listener.taken(object));
    },
    onFault: ({ kind }) => {
      ends.push(kind);
      finish();
    },
    onNote: () => finish(),
  });
  let finish = () => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  assert.equal(listened.kind, 'listening');
  const socket = connect(path).on('error', () => {});
  socket.resume();
  for (const chunk of chunksOf(input)) socket.write(chunk);
  socket.end();
  const bytes = input.subarray(CHUNKING_BYTES);
  // One that says too little to be known goes away unheard.
  await Promise.race([finished, once(socket, 'close')]);
  const isKnown = bytes.subarray(0, PREAMBLE_BYTES).equals(encodePreamble(contract));
  if (isKnown) await finished;
  if (listened.kind === 'listening') listened.listener.close();
  socket.destroy();
  if (!isKnown) assert.deepEqual([objects, ends], [[], []]);
  else assert.deepEqual({ objects, end: ends.join() }, expected(bytes.subarray(PREAMBLE_BYTES)));
  return isKnown ? `${Math.min(objects.length, 4)} objects, ${ends.join()}` : 'turned away';
}
