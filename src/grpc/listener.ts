import { createServer, type Server as NetServer, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { type Server, ServerCredentials } from '@grpc/grpc-js';
import type { Connections } from './connections.js';
import { handshakeMillis } from './patience.js';

/** How those come in who connect to a server. */
export interface Door {
  readonly connections: Connections;
  /** Without it, plain text. */
  readonly tls?: TlsOptions | undefined;
}

export interface Listener {
  /**
   * Takes no connection any more, ends those that never made a call, and cuts all others after so many milliseconds.
   * Resolves when none is left.
   */
  drain(graceMillis: number): Promise<void>;
}

/** Where to listen: a host's address, or the path of a Unix socket. */
export type Place = { readonly host: string; readonly port: number } | { readonly path: string };

/**
 * Listens for a gRPC server. The sockets are ours, and grpc-js gets each when it may come in: its own listeners take as many as
 * come, and wait two minutes for each handshake.
 *
 * @returns the bound port, 0 for a path; rejects with the system's error
 */
export async function listen(
  server: Server,
  place: Place,
  { connections, tls }: Door,
): Promise<Listener & { readonly port: number }> {
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  const takeIn = (socket: Socket) => injector.injectConnection(socket);
  const secure = tls && secured(tls, takeIn);
  const listening = createServer((socket) => {
    socket.on('error', () => {});
    if (connections.admit(socket)) (secure ?? takeIn)(socket);
  });
  await started(listening, place).catch((error) => {
    injector.destroy();
    throw error;
  });
  const bound = listening.address();
  return {
    port: typeof bound === 'object' && bound ? bound.port : 0,
    drain: (graceMillis) => {
      const left = new Promise<void>((resolve) => listening.close(() => resolve()));
      connections.dropStrangers();
      injector.drain(graceMillis);
      // The session of a peer that is gone without a word waits for the end of its socket, which never comes.
      const cut = setTimeout(() => connections.dropAll(), graceMillis);
      return left.finally(() => clearTimeout(cut));
    },
  };
}

function secured(tls: TlsOptions, takeIn: (socket: Socket) => void): (socket: Socket) => void {
  const server = createTlsServer({ ...tls, ALPNProtocols: ['h2'], handshakeTimeout: handshakeMillis });
  server.on('secureConnection', (socket) => {
    socket.on('error', () => {});
    takeIn(socket);
  });
  server.on('tlsClientError', (_error, socket) => socket.destroy());
  return (socket) => void server.emit('connection', socket);
}

function started(server: NetServer, place: Place): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(place, () => {
      server.off('error', reject);
      // Without file descriptors accepting fails; the connections that are there go on, and one that ends makes room.
      server.on('error', () => {});
      resolve();
    });
  });
}
