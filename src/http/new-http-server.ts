import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { Socket } from 'node:net';
import type { TlsOptions } from 'node:tls';
import { limits } from '../core/limits.js';
import type { Connections } from '../grpc/connections.js';
import { handshakeMillis } from '../grpc/patience.js';
import { refuseBegun } from './unrouted-refusal.js';

const bounds = {
  maxHeaderSize: limits.httpHeaderBytes,
  requestTimeout: limits.httpRequestMillis,
  keepAliveTimeout: limits.httpIdleMillis,
  connectionsCheckingInterval: limits.httpCheckMillis,
  // Node.js would refuse it without a word.
  requireHostHeader: false,
};

/** A server of HTTP/1.1 whose connections are counted, and whose requests have to arrive in time. */
export function newHttpServer(answer: RequestListener, connections: Connections, tls: TlsOptions | undefined): Server {
  const few = fewAtOnce();
  const server = tls
    ? createSecureServer({ ...tls, ...bounds, handshakeTimeout: handshakeMillis }, few(withHost(answer)))
    : createServer(bounds, few(withHost(answer)));
  server.on('checkExpectation', few(refusing('EXPECTATION')));
  return server.on('connection', (socket) => connections.admit(socket));
}

/** RFC 9112, section 3.2. */
function withHost(answer: RequestListener): RequestListener {
  const refuse = refusing('NO_HOST');
  return (request, response) => {
    const isMissing = request.headers.host === undefined && request.httpVersion === '1.1';
    (isMissing ? refuse : answer)(request, response);
  };
}

function refusing(code: string): RequestListener {
  return (_request, response) => refuseBegun({ code }, response);
}

/** Requests of one connection are all begun at once, however many it sends: what is bounded is both together (I16). */
function fewAtOnce(): (answer: RequestListener) => RequestListener {
  const underWay = new WeakMap<Socket, number>();
  return (answer) => (request, response) => {
    const { socket } = request;
    const others = underWay.get(socket) ?? 0;
    if (others >= limits.httpPipelined) {
      socket.destroy();
      return;
    }
    underWay.set(socket, others + 1);
    response.once('close', () => underWay.set(socket, (underWay.get(socket) ?? 1) - 1));
    answer(request, response);
  };
}
