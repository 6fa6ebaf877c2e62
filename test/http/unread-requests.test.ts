import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { limits } from '../../src/core/limits.js';
import { refuseUnread } from '../../src/http/unrouted-refusal.js';
import { runOrchestrator } from '../support/running-orchestrator.js';

const host = 'Host: 127.0.0.1\r\n';
const json = 'Content-Type: application/json\r\n';

/** What each is sent as, and what is said of it. */
const requests: readonly (readonly [string, (path: string) => string, number, string, RegExp])[] = [
  ['a body that is no JSON', (path) => post(path, json, '{'), 400, 'MALFORMED_MESSAGE', /is no JSON: send one object/],
  ['no body', (path) => post(path, json, ''), 400, 'MALFORMED_MESSAGE', /is no JSON: send one object/],
  [
    'no body and no type',
    (path) => `POST ${path} HTTP/1.1\r\n${host}\r\n`,
    400,
    'MALFORMED_MESSAGE',
    /there is no body: send a JSON object/,
  ],
  [
    'a body that is too large',
    (path) => `POST ${path} HTTP/1.1\r\n${host}${json}Content-Length: ${limits.httpBodyBytes + 1}\r\n\r\n`,
    413,
    'BODY_TOO_LARGE',
    /more than 2097152 bytes, .*: send less/,
  ],
  [
    'a body of another type',
    (path) => post(path, 'Content-Type: application/octet-stream\r\n', '{}'),
    415,
    'UNSUPPORTED_MEDIA_TYPE',
    /send JSON, and content-type: application\/json/,
  ],
  ['a body of no type', (path) => post(path, '', '{}'), 415, 'UNSUPPORTED_MEDIA_TYPE', /send JSON/],
  [
    'a URL that is none',
    (path) => `GET ${path}/%zz HTTP/1.1\r\n${host}\r\n`,
    400,
    'MALFORMED_REQUEST',
    /the URL has a % .*: write %25/,
  ],
  [
    'a method that is none',
    (path) => `FROB ${path} HTTP/1.1\r\n${host}\r\n`,
    400,
    'MALFORMED_REQUEST',
    /no such method: send GET or POST/,
  ],
  [
    'a version that is none',
    (path) => `GET ${path} HTTP/3.0\r\n${host}\r\n`,
    400,
    'MALFORMED_REQUEST',
    /no request of HTTP\/1\.1: see that/,
  ],
  [
    'two lengths at once',
    (path) => post(path, `${json}Transfer-Encoding: chunked\r\n`, '{}'),
    400,
    'MALFORMED_REQUEST',
    /no request of HTTP\/1\.1: see that/,
  ],
  ['no host', (path) => `GET ${path} HTTP/1.1\r\n\r\n`, 400, 'MALFORMED_REQUEST', /needs a Host header: send/],
  [
    'an expectation that nobody knows',
    (path) => `POST ${path} HTTP/1.1\r\n${host}Expect: gold\r\n\r\n`,
    417,
    'MALFORMED_REQUEST',
    /only Expect: 100-continue .*: send no other/,
  ],
  [
    'headers that are too large',
    (path) => `GET ${path} HTTP/1.1\r\n${host}X-A: ${'y'.repeat(limits.httpHeaderBytes)}\r\n\r\n`,
    431,
    'HEADERS_TOO_LARGE',
    /more than 16384 bytes: send fewer/,
  ],
];

function post(path: string, headers: string, body: string): string {
  return `POST ${path} HTTP/1.1\r\n${host}${headers}Content-Length: ${body.length}\r\n\r\n${body}`;
}

describe.each(['/api/ListRuns', '/v1/completions'])('at %s', (path) => {
  it('is answered whatever cannot be read, in the shape of that API and with a sentence', async () => {
    const { httpUrl } = await runOrchestrator({ http: '127.0.0.1:0' });
    for (const [what, request, status, reason, sentence] of requests) {
      const answer = await ask(Number(new URL(httpUrl!).port), request(path));
      expect([what, answer.status, answer.type]).toEqual([what, status, 'application/json; charset=utf-8']);
      const { error } = answer.body;
      expect(error, what).toMatchObject(
        path.startsWith('/v1')
          ? { type: 'invalid_request_error', param: null, code: reason.toLowerCase() }
          : { reason, fieldViolations: [], metadata: {} },
      );
      expect(error.message, what).toMatch(sentence);
    }
  });
});

it('what is not whole in time is told so', async () => {
  const late = Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
  const server = createServer((socket) => refuseUnread(late, socket)).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const answer = await ask((server.address() as AddressInfo).port, 'GET ');
  expect(answer).toMatchObject({
    status: 408,
    body: { error: { reason: 'REQUEST_TIMEOUT', code: 'request_timeout' } },
  });
  expect(answer.body.error.message).toMatch(/within 30 s: send all of it at once/);
});

/** Bytes on a connection of their own, and the one answer to them. */
async function ask(port: number, bytes: string) {
  const socket = connect(port, '127.0.0.1');
  try {
    let heard = '';
    socket.setEncoding('utf8').on('data', (text) => {
      heard += text;
    });
    socket.write(bytes);
    while (!isWhole(heard))
      await Promise.race([once(socket, 'data'), once(socket, 'close').then(() => mustBeWhole(heard))]);
    const [head = '', body = ''] = heard.split('\r\n\r\n');
    const status = Number(head.split(' ')[1]);
    return { status, type: /^content-type: (.*)$/im.exec(head)?.[1], body: JSON.parse(body) };
  } finally {
    socket.destroy();
  }
}

function isWhole(heard: string): boolean {
  const [head = '', body] = heard.split('\r\n\r\n');
  return body !== undefined && Buffer.byteLength(body) >= Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0);
}

function mustBeWhole(heard: string): void {
  if (!isWhole(heard)) throw new Error(`closed after ${JSON.stringify(heard)}`);
}
