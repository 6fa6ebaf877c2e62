import type { Server, Socket } from 'node:net';
import { type TLSSocket, Server as TlsServer } from 'node:tls';
import { limits } from '../core/limits.js';
import { readNodeId } from '../pki/node-id.js';
import type { EdgeIdentity } from '../worker/edge/edge-contract.js';
import { decodePreamble, PREAMBLE_BYTES } from '../worker/edge/edge-preamble.js';
import { readBlock } from '../worker/edge/read-block.js';
import { distrustOf } from './distrust.js';
import type { RefusalKind } from './gateway-counters.js';
import type { GatewayTimings } from './gateway-timings.js';
import { whoseTurnToGo } from './whose-turn-to-go.js';

/** A connection that has said whose it is. */
export interface Arrival {
  /** Paused right behind the preamble. */
  readonly socket: Socket;
  readonly preamble: Buffer;
  readonly identity: EdgeIdentity;
  /** Of the certificate that was shown; undefined where none is asked for. */
  readonly shownNodeId: bigint | undefined;
}

export interface DoorwayEvents {
  onArrival(arrival: Arrival): void;
  /** A connection was closed; `problem` goes on a sentence about it. */
  onRefusal(kind: RefusalKind, problem: string): void;
  /** A sentence for the log. */
  onNote(sentence: string): void;
}

/** One listener of a gateway, and the connections there that have not said yet whose they are. */
export class Doorway {
  /** In the order in which they came. */
  readonly #strangers = new Set<Socket>();
  /** In the middle of a TLS handshake, by where they come from; likewise. */
  readonly #handshakes = new Map<string, Socket>();

  constructor(
    readonly server: Server,
    readonly timings: Pick<GatewayTimings, 'preambleMillis' | 'handshakeMillis'>,
    readonly events: DoorwayEvents,
  ) {
    server.maxConnections = limits.gatewayConnections;
    if (server instanceof TlsServer) this.#secure(server);
    else server.on('connection', (socket) => this.#greet(socket, undefined));
    server.on('drop', () => events.onRefusal('crowded', `is over the ${limits.gatewayConnections} that are possible`));
    server.on('error', (error) => {
      // Before, it is an answer to whoever made it listen.
      if (server.listening) events.onNote(`the edge gateway cannot take a connection: ${error.message}`);
    });
  }

  get strangers(): number {
    return this.#strangers.size + this.#handshakes.size;
  }

  /** Takes nothing any more. Resolves when all that it has taken is closed, by whoever has it now. */
  close(): Promise<void> {
    for (const handshake of this.#handshakes.values()) handshake.destroy();
    for (const stranger of this.#strangers) this.#forget(stranger).destroy();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }

  #secure(server: TlsServer): void {
    server.on('connection', (socket) => this.#await(socket));
    server.on('secureConnection', (socket) => this.#admit(socket));
    server.on('tlsClientError', ({ code, message }: NodeJS.ErrnoException, socket) => {
      socket.destroy();
      const { authorizationError } = socket;
      // Who was turned away here, or left in the middle.
      if (!authorizationError && code === 'ECONNRESET') return;
      const { kind, problem } = distrustOf(String(authorizationError ?? code ?? message));
      this.events.onRefusal(kind, problem);
    });
  }

  #await(socket: Socket): void {
    const origin = originOf(socket);
    if (this.#handshakes.size >= limits.gatewayHandshakes) {
      const oldest = whoseTurnToGo(this.#handshakes.values());
      // Forgotten at once: its socket says so only later.
      this.#handshakes.delete(originOf(oldest));
      oldest.destroy();
      this.events.onRefusal('crowded', `was the oldest of ${limits.gatewayHandshakes} TLS handshakes`);
    }
    // That of the runtime begins anew with each byte.
    const patience = setTimeout(() => {
      if (!this.#handshakes.delete(origin)) return;
      socket.destroy();
      const { kind, problem } = distrustOf('ERR_TLS_HANDSHAKE_TIMEOUT');
      this.events.onRefusal(kind, problem);
    }, this.timings.handshakeMillis);
    this.#handshakes.set(origin, socket);
    socket.on('close', () => {
      clearTimeout(patience);
      if (this.#handshakes.get(origin) === socket) this.#handshakes.delete(origin);
    });
  }

  #admit(socket: TLSSocket): void {
    this.#handshakes.delete(originOf(socket));
    const certificate = socket.getPeerCertificate();
    const nodeId = socket.authorized ? readNodeId(certificate) : undefined;
    if (nodeId === undefined) {
      socket.destroy();
      const { O: role, CN: name } = certificate.subject ?? {};
      const advice = 'only agents and their orchestrator bring edges';
      this.events.onRefusal('other-node', `shows the certificate of no node (role ${role}, ${name}): ${advice}`);
      return;
    }
    socket.allowHalfOpen = true;
    this.#greet(socket, nodeId);
  }

  #greet(socket: Socket, shownNodeId: bigint | undefined): void {
    // Every error is followed by a close.
    socket.on('error', () => {});
    this.#makeRoom();
    this.#strangers.add(socket);
    const patience = setTimeout(
      () => this.#turnAway(socket, 'silent', 'does not say whose it is'),
      this.timings.preambleMillis,
    );
    const onGone = () => this.#turnAway(socket, 'silent', 'ended before it said whose it is');
    socket.on('end', onGone);
    socket.on('close', () => {
      clearTimeout(patience);
      onGone();
    });
    readBlock(socket, PREAMBLE_BYTES, (preamble) => {
      clearTimeout(patience);
      this.#hear(socket, preamble, shownNodeId);
    });
  }

  /** An honest producer speaks at once: it is gone from here before it is the oldest of the most (I16). */
  #makeRoom(): void {
    if (this.#strangers.size < limits.gatewayStrangers) return;
    this.#turnAway(
      whoseTurnToGo(this.#strangers),
      'crowded',
      `was the oldest of ${limits.gatewayStrangers} that did not say whose they are`,
    );
  }

  #hear(socket: Socket, preamble: Buffer, shownNodeId: bigint | undefined): void {
    if (!this.#strangers.has(socket)) return;
    const decoded = decodePreamble(preamble);
    if (decoded.kind === 'preamble') {
      this.events.onArrival({ socket: this.#forget(socket), preamble, identity: decoded.edge, shownNodeId });
    } else if (isTlsHello(preamble)) this.#answerInPlain(socket);
    else this.#turnAway(socket, 'malformed', decoded.problem);
  }

  /** So that the other side can tell at once what is wrong: to it, anything that is no TLS says so. */
  #answerInPlain(socket: Socket): void {
    this.#forget(socket).end('plain', () => socket.destroy());
    const problem =
      'speaks TLS, which this node cannot before it has joined: join it with a token, or that one without';
    this.events.onRefusal('plaintext', problem);
  }

  #turnAway(socket: Socket, kind: RefusalKind, problem: string): void {
    if (!this.#strangers.has(socket)) return;
    this.#forget(socket).destroy();
    this.events.onRefusal(kind, problem);
  }

  #forget(socket: Socket): Socket {
    this.#strangers.delete(socket);
    return socket;
  }
}

/** The same for a connection and for its TLS; no two that are open share it. */
function originOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

/** A handshake record of any TLS. */
function isTlsHello(bytes: Buffer): boolean {
  return bytes[0] === 22 && bytes[1] === 3;
}
