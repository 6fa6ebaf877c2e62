import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { limits } from '../../../src/core/limits.js';
import { encodeHeader } from '../../../src/worker/edge/object-record.js';
import { RecordWriter } from '../../../src/worker/edge/record-writer.js';

let folder: string;
let reader: Socket;
let socket: Socket;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'record-writer-'));
  const server = createServer();
  const accepted = new Promise<Socket>((resolve) => server.once('connection', resolve));
  await new Promise<void>((resolve) => server.listen(join(folder, 'edge'), resolve));
  socket = connect(join(folder, 'edge'));
  reader = await accepted;
  server.close();
});
afterEach(async () => {
  socket.destroy();
  reader.destroy();
  await rm(folder, { recursive: true });
});

function bytesOf(record: number, length: number): Buffer {
  return Buffer.alloc(length, record + 1);
}

const recordOf = (sequence: number, payload: Buffer) => ({ session: 7n, sequence, flags: 0, payload });

test('records of all sizes arrive in order, also those that find the block in use', async () => {
  const sizes = [4, limits.joinedRecordBytes - 40, limits.joinedRecordBytes, 0, 2304, 500_000, 2304, 2304];
  const writer = new RecordWriter(socket);
  let written = 0;
  for (const [record, size] of sizes.entries()) {
    writer.write(recordOf(record, bytesOf(record, size)), () => written++);
  }
  const expected = Buffer.concat(
    sizes.flatMap((size, record) => {
      const payload = bytesOf(record, size);
      return [encodeHeader(recordOf(record, payload)), payload];
    }),
  );
  const read: Buffer[] = [];
  socket.end();
  for await (const chunk of reader) read.push(chunk);
  expect(Buffer.concat(read).equals(expected)).toBe(true);
  expect(written).toBe(sizes.length);
});

test('a payload may be written to again once its record is written', async () => {
  const writer = new RecordWriter(socket);
  const payload = Buffer.from('first');
  await new Promise<void>((resolve) => writer.write(recordOf(0, payload), resolve));
  payload.write('again');
  await new Promise<void>((resolve) => writer.write(recordOf(1, payload), resolve));
  socket.end();
  const read: Buffer[] = [];
  for await (const chunk of reader) read.push(chunk);
  expect(Buffer.concat(read).toString('latin1')).toMatch(/^MO01.{36}firstMO01.{36}again$/s);
});
