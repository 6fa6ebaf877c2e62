import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { type HttpRefusal, refusalHeaders } from './http-refusal.js';
import { openAiError } from './openai/openai-error.js';
import { securityHeaders } from './security-headers.js';
import { unreadRequest } from './unread-request.js';

/** Before a request has met a door nobody knows how its sender reads errors: in both shapes at once. */
export function unroutedBody(why: HttpRefusal): object {
  const { statusCode: _, ...error } = why;
  return { error: { ...openAiError(why).error, ...error } };
}

/** Answers what the parser of HTTP made nothing of, and hangs up. */
export function refuseUnread(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const { statusCode, headers, body } = answerTo(error);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${statusCode} ${STATUS_CODES[statusCode]}\r\n${lines.join('')}\r\n${body}`, () =>
    socket.destroy(),
  );
}

/** Answers what may not be read on, in its turn, and hangs up. */
export function refuseBegun(error: { readonly code: string }, response: ServerResponse): void {
  const { statusCode, headers, body } = answerTo(error);
  response.writeHead(statusCode, headers).end(body);
}

function answerTo(error: { readonly code?: string | undefined }) {
  const why = unreadRequest(error);
  const body = JSON.stringify(unroutedBody(why));
  const headers = {
    ...securityHeaders,
    ...refusalHeaders(why),
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  };
  return { statusCode: why.statusCode, headers, body };
}
