import type { EdgeContract } from '../../src/worker/edge/edge-contract.js';
import { encodeHeader, HEADER_BYTES, type ObjectRecord, objectFlags } from '../../src/worker/edge/object-record.js';
import type { Random } from '../sim/random.js';
import { CHUNKING_BYTES, withChunking } from './chunks.js';
import { hostileNumbers, mutateBytes, putNumber, splice } from './mutate-bytes.js';

export const contract: EdgeContract = {
  runId: 7n,
  generation: 3,
  edgeId: 2n,
  producerNodeId: 4n,
  maxExtent: 4096,
  alignment: 4,
  capacity: 8192,
};

const MOST_BYTES = 256 * 1024;
/** Offset and bytes of what a header has: magic, version, length, session, sequence, extent, flags, reserved. */
const headerFields = [
  [0, 4],
  [4, 2],
  [6, 2],
  [8, 8],
  [16, 8],
  [24, 8],
  [32, 4],
  [36, 4],
] as const;

const { MORE, RELEASE, CANCEL, BATCH, TRUNCATE, SAMPLING } = objectFlags;

function record(session: bigint, sequence: number, flags: number, bytes: number): Buffer {
  const object: ObjectRecord = { session, sequence, flags, payload: Buffer.alloc(bytes, sequence + 1) };
  return Buffer.concat([encodeHeader(object), object.payload]);
}

/** Honest streams: one session, two in turns, one that is cancelled, the largest object. */
export const honestStreams: readonly Buffer[] = [
  [record(1n, 0, MORE, 64), record(1n, 1, 0, 4), record(1n, 2, RELEASE, 0)],
  [record(1n, 0, SAMPLING, 64), record(1n, 1, 0, 4), record(1n, 2, RELEASE, 0)],
  [
    record(1n, 0, 0, 8),
    record(2n, 0, 0, 8),
    record(1n, 1, TRUNCATE, 4),
    record(2n, 1, RELEASE, 4),
    record(1n, 2, 0, 8),
  ],
  [record(9n, 0, 0, 4), record(9n, 1, CANCEL, 0), record(9n, 2, RELEASE, 0), record(2n ** 64n - 1n, 0, 0, 4)],
  [record(1n, 0, 0, contract.maxExtent), record(1n, 1, 0, 4)],
].map((records) => withChunking(Buffer.concat(records)));

/** Where records begin, as far as the stream makes sense. */
function recordStarts(bytes: Buffer): number[] {
  const starts: number[] = [];
  for (let at = 0; at + HEADER_BYTES <= bytes.length && starts.length < 1000; ) {
    starts.push(at);
    at += HEADER_BYTES + Number(bytes.readBigUInt64LE(at + 24));
  }
  return starts;
}

/** Up to three changes in a stream of records, and other cuts. */
export function mutateRecords(input: Buffer, random: Random): Buffer {
  let bytes: Buffer = Buffer.from(input.subarray(CHUNKING_BYTES));
  for (let changes = random.int(1, 3); changes > 0; changes--) {
    const starts = recordStarts(bytes);
    bytes =
      starts.length === 0 || random.chance(0.15) ? mutateBytes(bytes, random) : changeRecord(bytes, starts, random);
  }
  return withChunking(bytes.subarray(0, MOST_BYTES), random.chance(0.3) ? 0 : random.int(1, 0xffff_ffff));
}

function changeRecord(bytes: Buffer, starts: readonly number[], random: Random): Buffer {
  const at = random.pick(starts);
  const end = starts.find((start) => start > at) ?? bytes.length;
  switch (random.int(0, 5)) {
    case 0:
      return splice(bytes, random.pick(starts), 0, Buffer.from(bytes.subarray(at, end)));
    case 1:
      return splice(bytes, at, end - at, new Uint8Array());
    case 2: {
      const flags = random.pick([0, MORE, RELEASE, CANCEL, TRUNCATE, SAMPLING, BATCH, MORE | RELEASE]);
      const sequence = random.int(0, 3);
      return splice(
        bytes,
        at,
        0,
        record(BigInt(random.int(0, 3)), sequence, flags, random.pick([0, 4, 5, 64, 4096, 4100])),
      );
    }
    default: {
      const [offset, length] = random.pick(headerFields);
      putNumber(bytes, at + offset, length, newValue(bytes, at + offset, length, random));
      return bytes;
    }
  }
}

function newValue(bytes: Buffer, at: number, length: 2 | 4 | 8, random: Random): bigint {
  const now = length === 8 ? bytes.readBigUInt64LE(at) : BigInt(bytes.readUIntLE(at, length));
  return random.chance(0.5) ? now + random.pick([-4n, -1n, 1n, 4n]) : random.pick(hostileNumbers);
}
