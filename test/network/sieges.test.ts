import { once } from 'node:events';
import http2 from 'node:http2';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { limits } from '../../src/core/limits.js';
import {
  callHeaders,
  dataFrames,
  END_HEADERS,
  frameType,
  http2Frame,
  messageFrames,
  plainHeader,
  preface,
  settingsFrame,
  times,
} from '../support/http2-frames.js';
import { allEnded, flood, Siege } from '../support/siege.js';

const list = '/stageplane.v1.OrchestratorService/ListNodes';
const watch = '/stageplane.v1.OrchestratorService/WatchNodes';
const subscribe = '/stageplane.v1.NodeAgentService/Subscribe';
const reflect = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo';

/** MiB by which the daemon may grow while it is attacked; what was done about each attack keeps it far below. */
const MOST_GROWTH = 200;

const idOf = (index: number) => 2 * index + 1;
const call = (index: number, path: string, more = {}) =>
  http2Frame(frameType.headers, END_HEADERS, idOf(index), callHeaders(path, more));
const cancel = (index: number) =>
  http2Frame(frameType.reset, 0, idOf(index), Buffer.of(0, 0, 0, http2.constants.NGHTTP2_CANCEL));

const floods: Record<string, (round: number) => Buffer> = {
  'calls that are taken back at once': (round) =>
    times(100, (index) => Buffer.concat([call(round * 100 + index, list), cancel(round * 100 + index)])),
  'sessions that are taken back at once': (round) =>
    times(100, (index) => Buffer.concat([call(round * 100 + index, subscribe), cancel(round * 100 + index)])),
  pings: () => times(500, () => http2Frame(frameType.ping, 0, 0, Buffer.alloc(8))),
  settings: () => times(500, () => settingsFrame([4, 65_535])),
  'headers that never end': (round) =>
    Buffer.concat([
      round === 0 ? http2Frame(frameType.headers, 0, 1, callHeaders(list)) : Buffer.alloc(0),
      times(50, (index) => http2Frame(frameType.continuation, 0, 1, plainHeader(`x${index}`, 'v'.repeat(100)))),
    ]),
  'empty data': (round) =>
    Buffer.concat([
      round === 0 ? call(0, subscribe) : Buffer.alloc(0),
      times(500, () => http2Frame(frameType.data, 0, 1)),
    ]),
  'windows that grow by a byte': () => times(500, () => http2Frame(frameType.window, 0, 0, Buffer.of(0, 0, 0, 1))),
  'as much metadata as fits': (round) => {
    const more = times(110, (index) => plainHeader(`x${index}`, 'v'.repeat(110)));
    const head = http2Frame(frameType.headers, 0, idOf(round), callHeaders(list));
    const rest = http2Frame(frameType.continuation, END_HEADERS, idOf(round), more);
    return Buffer.concat([head, rest, messageFrames(idOf(round), Buffer.alloc(0))]);
  },
};

test.each(Object.entries(floods))('a flood of %s ends that connection at most', async (name, next) => {
  const siege = await Siege.begin();
  const held = await siege.withstand(name, () => floodFourTimes(siege, 60, next));
  expect(held.memory).toBeLessThan(MOST_GROWTH);
});

async function floodFourTimes(siege: Siege, rounds: number, next: (round: number) => Buffer): Promise<void> {
  await Promise.all([1, 2, 3, 4].map(() => flood(siege, rounds, next)));
}

/** A viewer may do little, and attacks with that. */
const ways = [
  ['in plain text', { secured: false }],
  ['over mutual TLS', { secured: true }],
] as const;

test.each(ways)('a connection on which calls are taken back again and again is ended: %s', async (way, how) => {
  const siege = await Siege.begin(how);
  const socket = await siege.connect();
  const heard: Buffer[] = [];
  socket.on('data', (data) => heard.push(data));
  const twice = limits.resetsAtOnce * 2;
  // In pieces: what is taken back in the packet that brings it never becomes a call.
  socket.write(Buffer.concat([preface, settingsFrame()]));
  for (let index = 0; index < twice && socket.writable; index += 1) {
    socket.write(Buffer.concat([call(index, watch), cancel(index)]));
    // From the end on nothing may be under way: a write that fails drops what its socket has not read yet.
    if (index % 16 === 0 || index >= limits.resetsAtOnce - 16) await siege.ask();
  }
  await allEnded([socket]);
  // Not for want of an answer to a ping, which would end it as well: its last frame is GOAWAY, and says to calm down.
  expect(Buffer.concat(heard).toString('hex')).toMatch(/00000807000000000.{9}0000000b/);
  const next = floods['calls that are taken back at once']!;
  const held = await siege.withstand(`calls that are taken back ${way}`, () => floodFourTimes(siege, 60, next));
  expect(held.memory).toBeLessThan(MOST_GROWTH);
});

test.each(ways)(
  'messages that inflate to a thousand times their size are refused as they are: %s',
  async (way, how) => {
    const siege = await Siege.begin(how);
    const bomb = gzipSync(Buffer.alloc(limits.serverReceiveBytes - 16));
    const message = Buffer.concat([Buffer.of(1, 0, 0, bomb.length >> 8, bomb.length & 255), bomb]);
    const window = Buffer.concat(Array.from({ length: Math.floor(60_000 / message.length) }, () => message));
    // A viewer may open no session.
    const path = how.secured ? reflect : subscribe;
    const held = await siege.withstand(`messages that inflate ${way}`, async () => {
      const next = (round: number) =>
        Buffer.concat([
          call(round, path, { 'grpc-encoding': 'gzip' }),
          dataFrames(idOf(round), window, false),
          http2Frame(frameType.window, 0, 0, Buffer.of(0, 0, 255, 255)),
        ]);
      await floodFourTimes(siege, 40, next);
    });
    expect(held.memory).toBeLessThan(MOST_GROWTH);
  },
);

test('answers that nobody reads are dropped with their calls', async () => {
  const siege = await Siege.begin();
  const symbol = 'stageplane.v1.OrchestratorService';
  const question = Buffer.concat([Buffer.of(0x22, symbol.length), Buffer.from(symbol)]);
  const held = await siege.withstand('answers that nobody reads', async () => {
    const sockets = await Promise.all(Array.from({ length: 20 }, () => siege.connect()));
    // A window of nothing: not a byte of an answer can be sent.
    for (const socket of sockets) {
      socket.write(Buffer.concat([preface, settingsFrame([4, 0])]));
      const calls = (path: string, from: number, body: Uint8Array) =>
        times(20, (index) =>
          Buffer.concat([
            call(from + index, path),
            messageFrames(idOf(from + index), body, { last: path !== reflect }),
          ]),
        );
      socket.write(Buffer.concat([calls(watch, 0, Buffer.alloc(0)), calls(reflect, 20, question)]));
    }
    // Neither are pings answered: that alone would end it, and the calls still sooner.
    await allEnded(sockets);
  });
  expect(held.memory).toBeLessThan(MOST_GROWTH);
});

test('a call is reset whose client is alive and reads nothing of it, and other calls of its connection go on', async () => {
  const siege = await Siege.begin();
  const session = http2.connect(`http://${siege.address}`, { settings: { initialWindowSize: 0 } });
  const request = (path: string) =>
    session.request({ ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers' });
  // The other one is never asked anything, so it has nothing to say.
  const [unread, other] = [request(watch), request(reflect)];
  for (const stream of [unread, other]) stream.on('error', () => {});
  unread.end(Buffer.alloc(5));
  await once(unread, 'close').catch(() => {});
  expect(unread.rstCode).toBe(http2.constants.NGHTTP2_ENHANCE_YOUR_CALM);
  expect(other.closed).toBe(false);
  session.destroy();
});

test('of thousands of connections that say nothing a few hundred stay, and not for long', async () => {
  const siege = await Siege.begin();
  const held = await siege.withstand('silent connections', async () => {
    await allEnded(await inHundreds(30, () => siege.connect()));
  });
  expect(held.files).toBeLessThan(limits.strangers + 200);
  expect(held.memory).toBeLessThan(MOST_GROWTH);
});

/** Not all at once: a kernel whose queue is full forgets some, and their clients would never hear of it. */
async function inHundreds(times: number, make: () => Promise<Socket>): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (let made = 0; made < times; made += 1) {
    sockets.push(...(await Promise.all(Array.from({ length: 100 }, make))));
  }
  return sockets;
}

/** A record of TLS that says it has 512 bytes, and the beginning of a ClientHello in it. */
const halfHello = Buffer.of(22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3, 1, 2, 3);

test('over mutual TLS neither stay who say nothing, begin a handshake, or end it and say nothing then', async () => {
  const siege = await Siege.begin({ secured: true });
  const held = await siege.withstand('silent connections over mutual TLS', async () => {
    const silent = await inHundreds(8, () => siege.connectRaw());
    const half = await inHundreds(8, () => siege.connectRaw());
    for (const socket of half) socket.write(halfHello);
    const shaken = await inHundreds(2, () => siege.connect());
    await allEnded([...silent, ...half, ...shaken]);
  });
  expect(held.files).toBeLessThan(limits.strangers + 200);
  expect(held.memory).toBeLessThan(MOST_GROWTH);
});

test('nor on the port where tokens are redeemed, where fewer find room', async () => {
  const siege = await Siege.begin({ secured: true });
  const held = await siege.withstand('silent connections of those without a certificate', async () => {
    const sockets = await inHundreds(4, () => siege.connectRaw(siege.enrollAddress));
    for (const socket of sockets.slice(200)) socket.write(halfHello);
    await allEnded(sockets);
  });
  expect(held.files).toBeLessThan(limits.enrollConnectionsPerAddress + 200);
  expect(held.memory).toBeLessThan(MOST_GROWTH);
});

test('a connection that speaks a byte now and then is ended', async () => {
  const siege = await Siege.begin();
  await siege.withstand('a byte now and then', async () => {
    const sockets = await Promise.all(Array.from({ length: 100 }, () => siege.connect()));
    const bytes = Buffer.concat([preface, times(100, () => settingsFrame())]);
    let sent = 0;
    const drip = setInterval(() => {
      for (const socket of sockets) if (socket.writable) socket.write(bytes.subarray(sent, sent + 1));
      sent += 1;
    }, 100);
    await allEnded(sockets);
    clearInterval(drip);
  });
});

test('a client that says that it has said all is let go', async () => {
  const siege = await Siege.begin();
  const sockets = await Promise.all(Array.from({ length: 20 }, () => siege.connect()));
  for (const [index, socket] of sockets.entries()) {
    const beginnings = [
      Buffer.alloc(0),
      preface.subarray(0, 9),
      Buffer.concat([preface, settingsFrame(), call(0, watch)]),
    ];
    socket.end(beginnings[index % beginnings.length] ?? '');
  }
  await allEnded(sockets);
  await siege.ask();
});
