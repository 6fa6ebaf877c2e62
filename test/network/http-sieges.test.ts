import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { limits } from '../../src/core/limits.js';
import { allEnded, Siege } from '../support/siege.js';

/** MiB by which the daemon may grow while it is attacked. */
const MOST_GROWTH = 200;

const hostOf = ({ httpUrl }: Siege): string => new URL(httpUrl).host;
const request = (siege: Siege, path: string) => `GET ${path} HTTP/1.1\r\nHost: ${hostOf(siege)}\r\n\r\n`;

async function connections(siege: Siege, count: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    sockets.push(...(await Promise.all(Array.from({ length: 100 }, () => siege.connectRaw(hostOf(siege))))));
  }
  return sockets;
}

async function answers({ httpUrl }: Siege): Promise<void> {
  expect((await fetch(`${httpUrl}/v1/models`)).status).toBe(200);
}

test('over HTTP strangers who say nothing, or a byte now and then, make room for others and go soon', async () => {
  const siege = await Siege.begin();
  const held = await siege.withstand('silent and slow strangers over HTTP', async () => {
    const sockets = await connections(siege, 1500);
    await answers(siege);
    const bytes = request(siege, '/v1/models');
    let sent = 0;
    const drip = setInterval(() => {
      for (const socket of sockets) if (socket.writable) socket.write(bytes.slice(sent, sent + 1));
      sent += 1;
    }, 200);
    await allEnded(sockets);
    clearInterval(drip);
  });
  expect(held.files).toBeLessThan(limits.httpStrangers + 200);
  expect(held.memory).toBeLessThan(MOST_GROWTH);
});

test('over HTTP who sends requests without waiting for answers, or reads none, is let go', async () => {
  const siege = await Siege.begin();
  const held = await siege.withstand('unread answers over HTTP', async () => {
    const many = await connections(siege, 100);
    for (const socket of many) socket.write(request(siege, '/api/WatchNodes').repeat(50));
    await allEnded(many);
    const unread = await connections(siege, 100);
    for (const [index, socket] of unread.entries()) {
      socket.pause().write(request(siege, index % 2 === 0 ? '/api/WatchNodes' : '/').repeat(limits.httpPipelined));
    }
    await answers(siege);
    // A socket that is paused does not hear of its end.
    await expect.poll(() => siege.holds.files, { timeout: 30_000 }).toBeLessThan(unread.length);
  });
  expect(held.memory).toBeLessThan(MOST_GROWTH);
});
