import type { Server } from 'node:http';
import type { TlsOptions } from 'node:tls';
import cookie from '@fastify/cookie';
import Fastify, { type FastifyInstance, type FastifyPluginAsync, type FastifyReply } from 'fastify';
import type { Logger } from 'pino';
import { limits } from '../core/limits.js';
import type { BindResult } from '../grpc/bind-result.js';
import { bindRefusal } from '../grpc/bind-tcp.js';
import { httpBounds } from '../grpc/connection-bounds.js';
import { Connections } from '../grpc/connections.js';
import { parseListenAddress, withPort } from '../grpc/listen-address.js';
import type { LocalCaller } from '../grpc/local-calls.js';
import { Doorman } from './doorman.js';
import { health } from './health.js';
import { type HttpRefusal, refusal, refusalHeaders } from './http-refusal.js';
import type { KeyRing } from './key-ring.js';
import { newHttpServer } from './new-http-server.js';
import { readJson } from './read-json.js';
import { refusalOf } from './refusal-of.js';
import { securityHeaders } from './security-headers.js';
import { unreadRequest } from './unread-request.js';
import { refuseUnread, unroutedBody } from './unrouted-refusal.js';
import type { Admission, Visitor } from './visitor.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Whoever asks, for calls on their behalf; its signal fires when they are gone. Absent on public routes. */
    caller: LocalCaller;
  }
  interface FastifyContextConfig {
    /** Answers everybody, without a key: it tells nothing of the pool. */
    readonly isPublic?: boolean;
  }
}

export interface HttpConfig {
  /** `host:port`; port 0 lets the system choose. */
  readonly listen: string;
  readonly admission: Admission;
  /** Absent for plain HTTP. */
  readonly tls?: TlsOptions | undefined;
  /** What it serves: each adds its routes. */
  readonly doors: readonly FastifyPluginAsync[];
  /** A request was answered. @param route its method and the pattern that it met, such as `GET /metrics` */
  readonly onAnswered?: ((route: string, statusCode: number) => void) | undefined;
  readonly logger: Logger;
}

/** Opens the HTTP port. Resolves with why not when it cannot listen. */
export async function openHttpServer({
  listen,
  admission,
  tls,
  doors,
  onAnswered = () => {},
  logger,
}: HttpConfig): Promise<BindResult> {
  const connections = new Connections(httpBounds, logger);
  const app = newApp(logger, tls, connections);
  const doorman = new Doorman(admission);
  await app.register(cookie);
  app.decorateRequest('caller');
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(securityHeaders);
    if (request.routeOptions.config.isPublic) return;
    // What it throws each door has its own words for.
    const visitor = doorman.admit(request);
    const { remoteAddress = '', remotePort = 0 } = request.socket;
    connections.called(remoteAddress, remotePort, undefined);
    request.caller = { ...visitor, signal: untilGone(reply, visitor, admission.keys) };
  });
  app.addHook('onResponse', async ({ routeOptions: { method, url } }, { statusCode }) => {
    onAnswered(url === undefined ? 'unknown' : `${method} ${url}`, statusCode);
  });
  await app.register(health);
  for (const door of doors) await app.register(door);
  return bind(app, listen);
}

/** Fires when a visitor has gone, or has to. */
function untilGone({ raw }: FastifyReply, { key }: Visitor, keys: KeyRing): AbortSignal {
  const gone = new AbortController();
  raw.once('close', () => gone.abort());
  if (key) {
    // A stream that is cut short is an error to its reader, never an end.
    const leave = keys.enter(key, () => raw.destroy());
    raw.once('close', leave);
  }
  return gone.signal;
}

function newApp(logger: Logger, tls: TlsOptions | undefined, connections: Connections): FastifyInstance {
  const app = Fastify({
    bodyLimit: limits.httpBodyBytes,
    forceCloseConnections: 'idle',
    serverFactory: (answer) => newHttpServer(answer, connections, tls),
    clientErrorHandler: refuseUnread,
    frameworkErrors: (error, _request, reply: FastifyReply) => {
      const why = unreadRequest(error);
      reply.code(why.statusCode).headers(securityHeaders).send(unroutedBody(why));
    },
  });
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) =>
    readJson(body),
  );
  app.setErrorHandler((thrown, request, reply) => {
    const log = logger.child({ method: request.routeOptions.url ?? 'unknown', peer: request.ip });
    return sendRefusal(reply, refusalOf(thrown, log));
  });
  app.setNotFoundHandler({ preHandler: [] }, ({ method, url }, reply) =>
    sendRefusal(reply, refusal(404, 'NO_SUCH_PAGE', `there is no ${method} ${url.slice(0, 200)} here: see /`)),
  );
  return app;
}

function sendRefusal(reply: FastifyReply, why: HttpRefusal) {
  const { statusCode, ...error } = why;
  return reply.code(statusCode).headers(refusalHeaders(why)).send({ error });
}

async function bind(app: FastifyInstance, listen: string): Promise<BindResult> {
  const parsed = parseListenAddress(listen);
  if (!parsed)
    return { kind: 'refused', reason: 'INVALID_ADDRESS', message: `"${listen}" is no address; write host:port` };
  try {
    await app.listen(parsed);
  } catch (error) {
    return bindRefusal(listen, error as NodeJS.ErrnoException, '--http');
  }
  const { port } = app.server.address() as { readonly port: number };
  return { kind: 'bound', address: withPort(listen, port), drain: (graceMillis) => close(app, graceMillis) };
}

/** What is being answered may end by itself, for a while. */
async function close(app: FastifyInstance, graceMillis: number): Promise<void> {
  const patience = setTimeout(() => (app.server as Server).closeAllConnections(), graceMillis);
  await app.close();
  clearTimeout(patience);
}
