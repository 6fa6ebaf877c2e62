import { once } from 'node:events';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { StageFaultReason } from '../../../gen/stageplane/v1/run.js';
import { limits } from '../../../src/core/limits.js';
import type { EdgeContract } from '../../../src/worker/edge/edge-contract.js';
import { EdgeDialer, type ProducerEvents, type ProducerOptions } from '../../../src/worker/edge/edge-dialer.js';
import { type EdgeFault, edgeFaultReason } from '../../../src/worker/edge/edge-fault.js';
import {
  type ConsumerEvents,
  type ConsumerOptions,
  type EdgeListener,
  listenForEdge,
} from '../../../src/worker/edge/edge-listener.js';
import { encodePreamble } from '../../../src/worker/edge/edge-preamble.js';
import { encodeHeader, HEADER_BYTES, type ObjectRecord, objectFlags } from '../../../src/worker/edge/object-record.js';

const contract: EdgeContract = {
  runId: 7n,
  generation: 3,
  edgeId: 2n,
  producerNodeId: 4n,
  maxExtent: 8 * 2 ** 20,
  alignment: 4,
  capacity: 4096,
};

let folder: string;
let path: string;
const opened: { close(): void }[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stageplane-edge-'));
  path = join(folder, 'edge.sock');
});
afterEach(async () => {
  for (const end of opened.splice(0)) end.close();
  await rm(folder, { recursive: true });
});

/** Something that happens, and can be waited for. */
class Happening<T> {
  readonly all: T[] = [];
  #waiting: (() => void)[] = [];

  tell(value: T): void {
    this.all.push(value);
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  async atLeast(count: number): Promise<T[]> {
    while (this.all.length < count) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return this.all;
  }
}

interface ConsumerSetup extends ConsumerOptions {
  readonly takes?: boolean;
  readonly edge?: EdgeContract;
}

async function consumer({ takes = true, edge = contract, ...options }: ConsumerSetup = {}) {
  const happened = {
    ready: new Happening<true>(),
    objects: new Happening<ObjectRecord>(),
    faults: new Happening<EdgeFault>(),
    notes: new Happening<string>(),
  };
  const events: ConsumerEvents = {
    onReady: () => happened.ready.tell(true),
    onObject: (object) => {
      happened.objects.tell(object);
      if (takes) listener.taken(object);
    },
    onFault: (fault) => happened.faults.tell(fault),
    onNote: (sentence) => happened.notes.tell(sentence),
  };
  const listening = await listenForEdge(path, edge, events, options);
  if (listening.kind === 'refused') throw new Error(listening.fault.message);
  const listener: EdgeListener = listening.listener;
  opened.push(listener);
  return { listener, ...happened };
}

function producer(edge: EdgeContract = contract, options: ProducerOptions = {}) {
  const happened = {
    ready: new Happening<true>(),
    room: new Happening<true>(),
    faults: new Happening<EdgeFault>(),
    notes: new Happening<string>(),
  };
  const events: ProducerEvents = {
    onReady: () => happened.ready.tell(true),
    onRoom: () => happened.room.tell(true),
    onFault: (fault) => happened.faults.tell(fault),
    onNote: (sentence) => happened.notes.tell(sentence),
  };
  const dialer = new EdgeDialer(path, edge, events, options);
  opened.push(dialer);
  return { dialer, ...happened };
}

/** A connection that writes bytes of the test's own choice. */
function stranger(...chunks: Uint8Array[]) {
  const socket = connect(path);
  socket.on('error', () => {});
  socket.resume();
  for (const chunk of chunks) socket.write(chunk);
  opened.push({ close: () => socket.destroy() });
  return socket;
}

const object = (payload: Uint8Array, session = 1n) => ({ session, flags: 0, payload });

describe('an edge', () => {
  test('is ready at both ends, whichever came first, and carries objects in order', async () => {
    const early = producer();
    expect(await early.notes.atLeast(1)).toEqual([expect.stringContaining('ENOENT')]);
    expect(early.dialer.hasRoom(4)).toBe(false);
    const late = await consumer();
    await Promise.all([early.ready.atLeast(1), early.room.atLeast(1), late.ready.atLeast(1)]);
    for (let index = 0; index < 5; index++) early.dialer.send(object(Buffer.alloc(4, index), BigInt(index % 2)));
    const objects = await late.objects.atLeast(5);
    expect(objects.map(({ payload }) => payload[0])).toEqual([0, 1, 2, 3, 4]);
    expect(objects.map(({ sequence }) => sequence)).toEqual([0, 0, 1, 1, 2]);
  });

  test('lets an object pass alone that is larger than its ring', async () => {
    const [sender, receiver] = [producer(), await consumer()];
    await sender.ready.atLeast(1);
    const payload = Buffer.alloc(contract.maxExtent, 'large');
    expect(sender.dialer.hasRoom(payload.length)).toBe(true);
    sender.dialer.send(object(payload));
    const [received] = await receiver.objects.atLeast(1);
    expect(payload.equals(received!.payload)).toBe(true);
  });

  test('holds no more than its ring at either end, drops nothing, and goes on when there is room', async () => {
    const [sender, receiver] = [producer(), await consumer({ takes: false })];
    await sender.ready.atLeast(1);
    // With its header a quarter of the ring.
    const payload = Buffer.alloc(984);
    let sent = 0;
    // Ends when the producer's ring and the kernel's buffers are full.
    for (; sender.dialer.hasRoom(payload.length); sent++) sender.dialer.send(object(payload));
    expect(sent).toBeGreaterThan(4);
    for (let taken = 0; taken < sent; taken++) {
      const objects = await receiver.objects.atLeast(taken + 1);
      expect(objects.length - taken).toBeLessThanOrEqual(4);
      receiver.listener.taken(objects[taken]!);
    }
    await sender.room.atLeast(1);
    expect(sender.dialer.hasRoom(payload.length)).toBe(true);
    expect(receiver.objects.all.map(({ sequence }) => sequence)).toEqual(Array.from({ length: sent }, (_, i) => i));
  });

  test('is over at the consumer when its producer ends: between two objects, or inside one', async () => {
    const first = await consumer();
    const sender = producer();
    await sender.ready.atLeast(1);
    sender.dialer.send(object(Buffer.alloc(4)));
    sender.dialer.close();
    const [closed] = await first.faults.atLeast(1);
    expect(closed!.kind).toBe('closed');
    expect(first.objects.all).toHaveLength(1);

    const second = await consumer();
    const header = encodeHeader({ ...object(Buffer.alloc(4)), sequence: 0 });
    const socket = stranger(encodePreamble(contract), header);
    await second.ready.atLeast(1);
    socket.end();
    const [inside] = await second.faults.atLeast(1);
    expect(inside!.kind).toBe('end-inside-object');
    for (const fault of [closed!, inside!]) {
      expect(fault.message).toContain('edge 2 of run 7');
      expect(edgeFaultReason(fault)).toBe(StageFaultReason.STAGE_FAULT_REASON_EDGE_CLOSED);
    }
  });

  test('is over at the producer when its consumer ends', async () => {
    const [sender, receiver] = [producer(), await consumer()];
    await sender.ready.atLeast(1);
    receiver.listener.close();
    const [fault] = await sender.faults.atLeast(1);
    expect(fault).toMatchObject({ kind: 'closed', message: expect.stringContaining('edge 2 of run 7') });
  });

  test('that carries something else is EDGE_PROTOCOL at the consumer and closed at the producer', async () => {
    const receiver = await consumer();
    const socket = stranger(encodePreamble(contract), Buffer.alloc(40, 'x'));
    const [fault] = await receiver.faults.atLeast(1);
    expect(fault!.kind).toBe('wrong-magic');
    expect(edgeFaultReason(fault!)).toBe(StageFaultReason.STAGE_FAULT_REASON_EDGE_PROTOCOL);
    await new Promise((resolve) => socket.on('close', resolve));
  });
});

describe('an edge that reopens', () => {
  const { CANCEL, RELEASE } = objectFlags;
  const shapes = (objects: readonly ObjectRecord[]) => objects.map(({ session, flags }) => [session, flags]);
  const headerOf = (session: bigint, flags: number, payload: Uint8Array, sequence = 0) =>
    encodeHeader({ session, flags, payload, sequence });

  test('ends the sessions that its producer left open, the one of an unfinished object too, and takes it again', async () => {
    const receiver = await consumer({ reopens: true });
    const [row, none] = [Buffer.alloc(4), Buffer.alloc(0)];
    const first = stranger(
      encodePreamble(contract),
      headerOf(1n, 0, row),
      row,
      headerOf(2n, 0, row),
      row,
      headerOf(2n, RELEASE, none, 1),
      headerOf(3n, 0, row),
      row,
      // The last of its session, had it come whole.
      headerOf(3n, RELEASE, row, 1),
      Buffer.alloc(2),
    );
    await receiver.objects.atLeast(4);
    first.destroy();
    expect(shapes((await receiver.objects.atLeast(8)).slice(4))).toEqual([
      [1n, CANCEL],
      [1n, RELEASE],
      [3n, CANCEL],
      [3n, RELEASE],
    ]);
    const second = producer();
    await second.ready.atLeast(1);
    second.dialer.send(object(row, 4n));
    expect(shapes((await receiver.objects.atLeast(9)).slice(8))).toEqual([[4n, 0]]);
    expect(receiver.ready.all).toHaveLength(1);
    expect(receiver.faults.all).toEqual([]);
    expect(receiver.notes.all).toEqual([expect.stringContaining('the producer of edge 2 of run 7 went away')]);
  });

  test('notices the end of a producer also while its ring is full and nobody reads', async () => {
    const receiver = await consumer({ reopens: true, takes: false });
    const payload = Buffer.alloc(984);
    const records = Array.from({ length: 1000 }, (_, sequence) => [headerOf(1n, 0, payload, sequence), payload]);
    const first = stranger(encodePreamble(contract), ...records.flat());
    await receiver.objects.atLeast(4);
    first.destroy();
    // What it had written is still in the socket: only who comes second makes the consumer look.
    const second = producer();
    await second.ready.atLeast(1);
    expect(shapes(receiver.objects.all.slice(4))).toEqual([
      [1n, CANCEL],
      [1n, RELEASE],
    ]);
  });

  test('refuses who comes second, and what is broken is still a fault', async () => {
    const receiver = await consumer({ reopens: true });
    const socket = stranger(encodePreamble(contract));
    await receiver.ready.atLeast(1);
    const second = producer();
    expect(await receiver.notes.atLeast(1)).toEqual([expect.stringContaining('comes second')]);
    socket.write(Buffer.alloc(HEADER_BYTES, 'x'));
    expect(await receiver.faults.atLeast(1)).toMatchObject([{ kind: 'wrong-magic' }]);
    expect(second.ready.all).toEqual([]);
  });

  test('holds nobody up while its consumer is away, and brings the newest objects to the next one', async () => {
    let taken: Socket | undefined;
    const deaf = createServer({ pauseOnConnect: true }, (socket) => {
      taken = socket;
      socket.write(encodePreamble(contract));
    }).listen(path);
    await once(deaf, 'listening');
    const sender = producer(contract, { reopens: true });
    await sender.ready.atLeast(1);
    do {
      while (sender.dialer.hasRoom(984)) sender.dialer.send(object(Buffer.alloc(984)));
      await nextTurn();
    } while (sender.dialer.hasRoom(984));
    const told = sender.room.all.length;
    deaf.close();
    taken!.destroy();
    expect(await sender.notes.atLeast(1)).toEqual([expect.stringContaining('edge 2 of run 7 is no longer connected')]);
    // Whoever waited for room is told that there is some.
    expect(sender.room.all.length).toBeGreaterThan(told);
    for (let session = 1n; session <= 100n; session++) {
      expect(sender.dialer.hasRoom(984)).toBe(true);
      sender.dialer.send(object(Buffer.alloc(984), session));
    }
    const second = await consumer({ firstSession: 99n });
    sender.dialer.send(object(Buffer.alloc(4), 101n));
    const objects = await second.objects.atLeast(3);
    expect(objects.map(({ session, sequence }) => [session, sequence])).toEqual([
      [99n, 0],
      [100n, 0],
      [101n, 0],
    ]);
    expect(sender.ready.all).toHaveLength(1);
    expect(sender.faults.all).toEqual([]);
  });

  test('passes over what is left of lower sessions, whatever its sequence', async () => {
    const receiver = await consumer({ firstSession: 5n });
    const row = Buffer.alloc(4);
    const records = [
      headerOf(4n, 0, row, 17),
      row,
      headerOf(5n, 0, row),
      row,
      headerOf(4n, CANCEL, Buffer.alloc(0), 3),
    ];
    stranger(encodePreamble(contract), ...records, headerOf(6n, 0, row), row);
    expect(shapes(await receiver.objects.atLeast(2))).toEqual([
      [5n, 0],
      [6n, 0],
    ]);
    expect(receiver.faults.all).toEqual([]);
  });
});

describe('a consumer', () => {
  test.each<[string, Partial<EdgeContract>, string]>([
    ['another run', { runId: 8n }, 'run 8, this end was provisioned for 7'],
    ['an older generation', { generation: 2 }, 'generation 2, this end was provisioned for 3'],
    ['another edge', { edgeId: 1n }, 'edge 1, this end was provisioned for 2'],
    ['another producer', { producerNodeId: 5n }, 'producer node 5, this end was provisioned for 4'],
  ])('refuses %s, and takes the right producer after it', async (_, foreign, sentence) => {
    const receiver = await consumer();
    const stale = producer({ ...contract, ...foreign });
    expect(await receiver.notes.atLeast(1)).toEqual([expect.stringContaining(sentence)]);
    expect(await stale.notes.atLeast(1)).toEqual([expect.stringContaining('consumer closed the connection')]);
    const own = producer();
    await own.ready.atLeast(1);
    expect(stale.ready.all).toEqual([]);
    expect(receiver.faults.all).toEqual([]);
  });

  test('refuses what is no preamble at all', async () => {
    const receiver = await consumer();
    stranger(Buffer.from('GET / HTTP/1.1\r\nHost: somewhere.example\r\n\r\n'));
    expect(await receiver.notes.atLeast(1)).toEqual([expect.stringContaining('does not begin with the preamble')]);
    const preamble = encodePreamble(contract);
    preamble.writeUInt16LE(2, 4);
    stranger(preamble);
    expect((await receiver.notes.atLeast(2))[1]).toContain('version 2');
  });

  test('takes a preamble in pieces, with an object right behind it', async () => {
    const receiver = await consumer();
    const preamble = encodePreamble(contract);
    const first = encodeHeader({ ...object(Buffer.alloc(4)), sequence: 0 });
    const socket = stranger(preamble.subarray(0, 7));
    await new Promise((resolve) => socket.on('connect', resolve));
    socket.write(Buffer.concat([preamble.subarray(7), first, Buffer.alloc(4, 9)]));
    const [received] = await receiver.objects.atLeast(1);
    expect([...received!.payload]).toEqual([9, 9, 9, 9]);
  });

  test('refuses a second producer while the first is connected', async () => {
    const receiver = await consumer();
    const [first, second] = [producer(), producer()];
    await Promise.race([first.ready.atLeast(1), second.ready.atLeast(1)]);
    expect(await receiver.notes.atLeast(1)).toEqual([expect.stringContaining('the edge has its producer')]);
    expect(first.ready.all.length + second.ready.all.length).toBe(1);
    expect(receiver.ready.all).toHaveLength(1);
  });

  test('bears with few connections that say nothing (I16)', async () => {
    const receiver = await consumer();
    for (let index = 0; index <= limits.edgeConnections; index++) stranger(Buffer.from('S'));
    expect(await receiver.notes.atLeast(1)).toEqual([expect.stringContaining('one too many')]);
  });

  test('cannot listen where something is, or where the name is too long', async () => {
    const first = await consumer();
    const events = { onReady() {}, onObject() {}, onFault() {}, onNote() {} };
    const taken = await listenForEdge(path, contract, events);
    expect(taken).toMatchObject({ kind: 'refused', fault: { message: expect.stringContaining(path) } });
    const long = join(folder, 'x'.repeat(limits.socketPathBytes));
    expect((await listenForEdge(long, contract, events)).kind).toBe('refused');
    expect(first.faults.all).toEqual([]);
  });

  test('leaves no socket behind', async () => {
    const { listener } = await consumer();
    const closed = new Promise((resolve) => listener.server.on('close', resolve));
    listener.close();
    await closed;
    await expect(stat(path)).rejects.toThrow('ENOENT');
  });
});
