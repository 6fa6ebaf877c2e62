import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { limits } from '../../../src/core/limits.js';
import type { EdgeContract } from '../../../src/worker/edge/edge-contract.js';
import type { EdgeFault } from '../../../src/worker/edge/edge-fault.js';
import { encodeHeader, HEADER_BYTES, type ObjectRecord, objectFlags } from '../../../src/worker/edge/object-record.js';
import { RecordDecoder } from '../../../src/worker/edge/record-decoder.js';

const contract: EdgeContract = {
  runId: 7n,
  generation: 1,
  edgeId: 2n,
  producerNodeId: 3n,
  maxExtent: 64,
  alignment: 4,
  capacity: 1024,
};

const record = (fields: Partial<ObjectRecord> = {}): ObjectRecord => ({
  session: 1n,
  sequence: 0,
  flags: 0,
  payload: Buffer.from([1, 2, 3, 4]),
  ...fields,
});

const bytesOf = (...records: ObjectRecord[]) =>
  Buffer.concat(records.flatMap((object) => [encodeHeader(object), object.payload]));

interface Outcome {
  objects: ObjectRecord[];
  fault: EdgeFault | undefined;
}

/** All that a stream says, whatever pieces it comes in. */
function decode(chunks: readonly Uint8Array[]): Outcome {
  const decoder = new RecordDecoder(contract);
  const objects: ObjectRecord[] = [];
  for (const chunk of chunks) {
    decoder.push(Buffer.from(chunk));
    for (;;) {
      const decoded = decoder.next(Number.POSITIVE_INFINITY);
      if (decoded.kind === 'fault') return { objects, fault: decoded.fault };
      if (decoded.kind !== 'object') break;
      objects.push({ ...decoded.object, payload: Buffer.from(decoded.object.payload) });
    }
  }
  return { objects, fault: decoder.end() };
}

/** The bytes at those places, in pieces that together are the whole. */
function cutAt(bytes: Buffer, places: readonly number[]): Buffer[] {
  const cuts = [0, ...[...places].sort((a, b) => a - b), bytes.length];
  return cuts.slice(1).map((end, index) => bytes.subarray(cuts[index], end));
}

const twoSessions = [
  record({ flags: objectFlags.MORE, payload: Buffer.alloc(64, 7) }),
  record({ session: 2n ** 64n - 1n }),
  record({ sequence: 1 }),
  record({ sequence: 2, flags: objectFlags.TRUNCATE }),
  record({ sequence: 3, flags: objectFlags.CANCEL, payload: Buffer.alloc(0) }),
  // Longer than any rows may be here.
  record({ sequence: 4, flags: objectFlags.SAMPLING, payload: Buffer.alloc(100, 3) }),
  record({ session: 2n ** 64n - 1n, sequence: 1, flags: objectFlags.RELEASE, payload: Buffer.alloc(0) }),
];

test('a stream that is split at every byte gives the same objects', () => {
  const bytes = bytesOf(...twoSessions);
  for (let place = 0; place <= bytes.length; place++) {
    const { objects, fault } = decode(cutAt(bytes, [place]));
    expect(objects).toEqual(twoSessions);
    expect(fault!.kind).toBe('closed');
  }
  expect(decode([...bytes].map((byte) => Buffer.from([byte]))).objects).toEqual(twoSessions);
});

test('a payload that came whole is not copied', () => {
  const decoder = new RecordDecoder(contract);
  const bytes = bytesOf(record());
  decoder.push(bytes);
  const decoded = decoder.next(Number.POSITIVE_INFINITY);
  expect(decoded.kind === 'object' && decoded.object.payload.buffer).toBe(bytes.buffer);
});

test('an end anywhere inside an object is told from an end between two', () => {
  const bytes = bytesOf(record());
  for (let length = 1; length < bytes.length; length++) {
    expect(decode([bytes.subarray(0, length)]).fault!.kind).toBe('end-inside-object');
  }
  expect(decode([bytes]).fault!.kind).toBe('closed');
});

describe('a broken object is a fault by its kind, and its sentence names the edge', () => {
  const spoilt = (spoil: (header: Buffer) => void): Buffer => {
    const bytes = bytesOf(record());
    spoil(bytes);
    return bytes;
  };
  test.each<[EdgeFault['kind'], string, Buffer]>([
    ['wrong-magic', 'magic 0x', spoilt((header) => header.write('MO02'))],
    ['wrong-version', 'version 2', spoilt((header) => header.writeUInt16LE(2, 4))],
    ['wrong-header-length', '48 bytes', spoilt((header) => header.writeUInt16LE(48, 6))],
    ['wrong-reserved', 'has 9', spoilt((header) => header.writeUInt32LE(9, 36))],
    ['wrong-flags', '0x8', spoilt((header) => header.writeUInt32LE(objectFlags.BATCH, 32))],
    ['wrong-flags', '0x3', spoilt((header) => header.writeUInt32LE(objectFlags.MORE | objectFlags.RELEASE, 32))],
    ['wrong-flags', '0x80000000', spoilt((header) => header.writeUInt32LE(2 ** 31, 32))],
    ['wrong-flags', 'CANCEL with 4', bytesOf(record({ flags: objectFlags.CANCEL }))],
    [
      'extent-over-max',
      `${limits.samplingBytes + 4} bytes`,
      bytesOf(record({ flags: objectFlags.SAMPLING, payload: Buffer.alloc(limits.samplingBytes + 4) })),
    ],
    ['wrong-flags', 'TRUNCATE with 8', bytesOf(record({ flags: objectFlags.TRUNCATE, payload: Buffer.alloc(8) }))],
    ['wrong-flags', 'neither rows nor a purpose', bytesOf(record({ payload: Buffer.alloc(0) }))],
    ['wrong-sequence', 'sequence 1 in session 1, 0', bytesOf(record({ sequence: 1 }))],
    ['wrong-sequence', 'sequence 0 in session 1, 1', bytesOf(record(), record())],
    ['wrong-sequence', 'sequence 2 in session 1, 1', bytesOf(record(), record({ sequence: 2 }))],
    ['wrong-alignment', 'no multiple of 4', bytesOf(record({ payload: Buffer.alloc(6) }))],
    ['extent-over-max', '68 bytes', bytesOf(record({ payload: Buffer.alloc(68) }))],
    ['extent-over-max', '18446744073709552000', spoilt((header) => header.fill(0xff, 24, 32))],
  ])('%s: %s', (kind, sentence, bytes) => {
    const { fault } = decode([bytes]);
    expect(fault!.kind).toBe(kind);
    expect(fault!.message).toContain(sentence);
    expect(fault!.message).toContain('edge 2 of run 7');
  });

  test('nothing is read after it', () => {
    const decoder = new RecordDecoder(contract);
    decoder.push(Buffer.concat([bytesOf(record({ sequence: 5 })), bytesOf(record())]));
    expect(decoder.next(1000).kind).toBe('fault');
    expect(decoder.next(1000).kind).toBe('fault');
  });
});

test('a session that was released does not count any more; one too many is refused (I16)', () => {
  const open = (session: number) => record({ session: BigInt(session) });
  const all = Array.from({ length: limits.sessionsPerStage }, (_, index) => open(index));
  expect(decode([bytesOf(...all)]).fault!.kind).toBe('closed');
  expect(decode([bytesOf(...all, open(limits.sessionsPerStage))]).fault!.kind).toBe('too-many-sessions');
  const released = record({ session: 0n, sequence: 1, flags: objectFlags.RELEASE, payload: Buffer.alloc(0) });
  expect(decode([bytesOf(...all, released, open(limits.sessionsPerStage))]).fault!.kind).toBe('closed');
});

test('an object for which there is no room waits, and comes when there is', () => {
  const decoder = new RecordDecoder(contract);
  decoder.push(bytesOf(record()));
  expect(decoder.next(HEADER_BYTES + 3).kind).toBe('no-room');
  expect(decoder.next(HEADER_BYTES + 4).kind).toBe('object');
  expect(decoder.next(0).kind).toBe('starved');
});

describe('whatever arrives', () => {
  const arbitraryRecords = fc
    .array(fc.tuple(fc.integer({ min: 0, max: 3 }), fc.uint8Array({ minLength: 1, maxLength: 16 })), { maxLength: 12 })
    .map((parts) => {
      const next = new Map<number, number>();
      return parts.map(([session, words]) => {
        const sequence = next.get(session) ?? 0;
        next.set(session, sequence + 1);
        return record({
          session: BigInt(session),
          sequence,
          payload: Buffer.from([...words].flatMap((word) => [word, 0, 0, 0])),
        });
      });
    });
  const cuts = fc.array(fc.nat(), { maxLength: 8 });
  const placesIn = (bytes: Buffer, places: readonly number[]) => places.map((place) => place % (bytes.length + 1));

  test('what was encoded comes out, however it is cut', () => {
    fc.assert(
      fc.property(arbitraryRecords, cuts, (records, places) => {
        const bytes = bytesOf(...records);
        expect(decode(cutAt(bytes, placesIn(bytes, places))).objects).toEqual(records);
      }),
    );
  });

  test('damage and garbage never throw, and mean the same however they are cut', () => {
    const damage = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(arbitraryRecords, damage, fc.uint8Array(), cuts, (records, flips, tail, places) => {
        const bytes = Buffer.concat([bytesOf(...records), tail]);
        for (const [place, value] of flips) bytes[place % Math.max(1, bytes.length)] = value;
        const whole = decode([bytes]);
        expect(decode(cutAt(bytes, placesIn(bytes, places)))).toEqual(whole);
        expect(whole.fault).toBeDefined();
      }),
      { numRuns: 500 },
    );
  });
});
