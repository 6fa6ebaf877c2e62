import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import type { Random } from '../sim/random.js';
import { runOrchestrator } from '../support/running-orchestrator.js';
import { fuzz, fuzzTimeout } from './fuzz.js';
import { heapBytes } from './heap-bytes.js';
import { mutateBytes } from './mutate-bytes.js';

const HEAP_GROWTH_BYTES = 96 * 1024 * 1024;
const MOST_BYTES = 65_536;

test('bytes on the HTTP port end that connection at most, and refusals say why', { timeout: fuzzTimeout }, async () => {
  const { httpUrl } = await runOrchestrator({ http: '127.0.0.1:0' });
  const port = Number(new URL(httpUrl!).port);
  const ask = async () => expect((await fetch(`${httpUrl}/healthz`)).status).toBe(200);
  const heapBefore = heapBytes();
  await fuzz({ name: 'http', seeds, mutate, run: (input) => send(port, input, ask) });
  await ask();
  expect(heapBytes() - heapBefore).toBeLessThan(HEAP_GROWTH_BYTES);
});

const json = 'Content-Type: application/json\r\n';

const seeds: readonly Buffer[] = [
  request('GET /healthz'),
  request('GET /', 'Connection: close\r\n'),
  request('HEAD /metrics', 'Authorization: Bearer sk-stageplane-x\r\nCookie: session=x; a="b"\r\n'),
  request('GET /api/WatchNodes?request=%7B%7D', 'Last-Event-ID: 3\r\n'),
  request('GET /assets/../../etc/passwd'),
  request('OPTIONS *', 'Origin: http://elsewhere\r\n'),
  request('CONNECT 127.0.0.1:1', 'Upgrade: websocket\r\nConnection: upgrade\r\n'),
  request('POST /api/ListNodes', `${json}Content-Length: 2\r\n`, '{}'),
  request('POST /api/GetRun', `${json}Expect: 100-continue\r\nContent-Length: 13\r\n`, '{"runId":"7"}'),
  request('POST /v1/completions', `${json}Transfer-Encoding: chunked\r\n`, '2;x=y\r\n{}\r\n0\r\nTrailer: a\r\n\r\n'),
  request('POST /v1/chat/completions', `${json}Content-Length: 27\r\n`, '{"model":"m","messages":[]}'),
  request('DELETE /session', 'Sec-Fetch-Site: cross-site\r\n'),
].map((text) => Buffer.from(text));

function request(line: string, headers = '', body = ''): string {
  return `${line} HTTP/1.1\r\nHost: 127.0.0.1\r\n${headers}\r\n${body}`;
}

/** Changed bytes, and now and then one request behind another on one connection. */
function mutate(input: Buffer, random: Random): Buffer {
  const changed = mutateBytes(input, random);
  const all = random.chance(0.2) ? Buffer.concat([changed, random.pick(seeds)]) : changed;
  return all.subarray(0, MOST_BYTES);
}

/** Resolves once the server has let go of the connection; an honest client is answered beside it. */
async function send(port: number, bytes: Buffer, ask: () => Promise<unknown>): Promise<string> {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  const closed = once(socket, 'close');
  let heard = '';
  socket.setEncoding('latin1').on('data', (text) => {
    heard += text;
  });
  socket.write(bytes);
  await ask();
  socket.end();
  await closed;
  const heads = heard.match(/HTTP\/1\.1 \d{3} [\s\S]*?\r\n\r\n/g) ?? [];
  for (const head of heads)
    if (/^HTTP\/1\.1 [45]/.test(head)) expect(head).toMatch(/^content-type: application\/json/im);
  return [...new Set(heads.map((head) => head.slice(9, 12)))].sort().join(' ') || 'unanswered';
}
