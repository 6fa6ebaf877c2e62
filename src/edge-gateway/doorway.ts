import type { Server, Socket } from 'node:net';
import { limits } from '../core/limits.js';
import type { EdgeIdentity } from '../worker/edge/edge-contract.js';
import { decodePreamble, PREAMBLE_BYTES } from '../worker/edge/edge-preamble.js';
import { readBlock } from '../worker/edge/read-block.js';

/** A connection that has said whose it is. */
export interface Arrival {
  /** Paused right behind the preamble. */
  readonly socket: Socket;
  readonly preamble: Buffer;
  readonly identity: EdgeIdentity;
}

export interface DoorwayEvents {
  onArrival(arrival: Arrival): void;
  /** A connection was closed; `problem` goes on a sentence about it. */
  onRefusal(kind: 'silent' | 'malformed' | 'crowded', problem: string): void;
  /** A sentence for the log. */
  onNote(sentence: string): void;
}

/** One listener of a gateway, and the connections there that have not said yet whose they are. */
export class Doorway {
  /** In the order in which they came. */
  readonly #strangers = new Set<Socket>();

  constructor(
    readonly server: Server,
    readonly preambleMillis: number,
    readonly events: DoorwayEvents,
  ) {
    server.maxConnections = limits.gatewayConnections;
    server.on('connection', (socket) => this.#greet(socket));
    server.on('drop', () => events.onRefusal('crowded', `is over the ${limits.gatewayConnections} that are possible`));
    server.on('error', (error) => {
      // Before, it is an answer to whoever made it listen.
      if (server.listening) events.onNote(`the edge gateway cannot take a connection: ${error.message}`);
    });
  }

  get strangers(): number {
    return this.#strangers.size;
  }

  /** Takes nothing any more. Resolves when all that it has taken is closed, by whoever has it now. */
  close(): Promise<void> {
    for (const stranger of this.#strangers) this.#forget(stranger).destroy();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }

  #greet(socket: Socket): void {
    // Every error is followed by a close.
    socket.on('error', () => {});
    this.#makeRoom();
    this.#strangers.add(socket);
    const patience = setTimeout(
      () => this.#turnAway(socket, 'silent', 'does not say whose it is'),
      this.preambleMillis,
    );
    const onGone = () => this.#turnAway(socket, 'silent', 'ended before it said whose it is');
    socket.on('end', onGone);
    socket.on('close', () => {
      clearTimeout(patience);
      onGone();
    });
    readBlock(socket, PREAMBLE_BYTES, (preamble) => {
      clearTimeout(patience);
      this.#hear(socket, preamble);
    });
  }

  /** An honest producer speaks at once: it is gone from here before it is the oldest (I16). */
  #makeRoom(): void {
    if (this.#strangers.size < limits.gatewayStrangers) return;
    const [oldest] = this.#strangers;
    this.#turnAway(oldest!, 'crowded', `was the oldest of ${limits.gatewayStrangers} that did not say whose they are`);
  }

  #hear(socket: Socket, preamble: Buffer): void {
    if (!this.#strangers.has(socket)) return;
    const decoded = decodePreamble(preamble);
    if (decoded.kind === 'malformed') return this.#turnAway(socket, 'malformed', decoded.problem);
    this.events.onArrival({ socket: this.#forget(socket), preamble, identity: decoded.edge });
  }

  #turnAway(socket: Socket, kind: 'silent' | 'malformed' | 'crowded', problem: string): void {
    if (!this.#strangers.has(socket)) return;
    this.#forget(socket).destroy();
    this.events.onRefusal(kind, problem);
  }

  #forget(socket: Socket): Socket {
    this.#strangers.delete(socket);
    return socket;
  }
}
