import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { limits } from '../../core/limits.js';
import type { EdgeContract } from './edge-contract.js';
import type { EdgeFault } from './edge-fault.js';
import { decodePreamble, edgeName, encodePreamble, foreignPart, PREAMBLE_BYTES } from './edge-preamble.js';
import { type ObjectRecord, recordBytes } from './object-record.js';
import { readBlock } from './read-block.js';
import { RecordDecoder } from './record-decoder.js';

/** What the consumer's end of an edge tells. */
export interface ConsumerEvents {
  /** The producer is connected and is the right one. Once. */
  onReady(): void;
  /** In the order of the edge. The object stays in the ring until `taken`. */
  onObject(object: ObjectRecord): void;
  /** The edge is over, after the last whole object. Once, and nothing follows. */
  onFault(fault: EdgeFault): void;
  /** A sentence for the log: someone was turned away. */
  onNote(sentence: string): void;
}

export type ListenOutcome =
  | { readonly kind: 'listening'; readonly listener: EdgeListener }
  | { readonly kind: 'refused'; readonly fault: EdgeFault };

/** Listens for the producer of an edge on a Unix socket that does not exist yet, `limits.socketPathBytes` at most. */
export async function listenForEdge(
  path: string,
  contract: EdgeContract,
  events: ConsumerEvents,
): Promise<ListenOutcome> {
  const server = createServer();
  try {
    // Node itself would cut a longer path and listen somewhere else.
    if (Buffer.byteLength(path) > limits.socketPathBytes) throw new Error(`over ${limits.socketPathBytes} bytes`);
    server.listen(path);
    await once(server, 'listening');
    return { kind: 'listening', listener: new EdgeListener(server, contract, events) };
  } catch (error) {
    const { message } = error as Error;
    const sentence = `${edgeName(contract)} cannot listen on ${path} (${message}): give it a new path in a folder of its own`;
    return { kind: 'refused', fault: { kind: 'not-listening', message: sentence } };
  }
}

/** The consumer's end of one edge: its socket, its ring, and the one producer that it takes. */
export class EdgeListener {
  readonly #decoder: RecordDecoder;
  /** Connections that have not said yet whose they are. */
  readonly #strangers = new Set<Socket>();
  #producer: Socket | undefined;
  /** Bytes of the objects that were handed out and not taken yet. */
  #held = 0;
  #ended = false;
  #over = false;
  #pumping = false;

  constructor(
    readonly server: Server,
    readonly contract: EdgeContract,
    readonly events: ConsumerEvents,
  ) {
    this.#decoder = new RecordDecoder(contract);
    server.on('connection', (socket) => this.#greet(socket));
    server.on('error', (error) => events.onNote(`${edgeName(contract)} cannot take a connection: ${error.message}`));
  }

  /** The object has left the ring: there is room for more. */
  taken(object: ObjectRecord): void {
    this.#held -= recordBytes(object);
    this.#pump();
  }

  /** Ends the edge without a word, and removes its socket. */
  close(): void {
    this.#over = true;
    this.server.close();
    this.#producer?.destroy();
    for (const stranger of this.#strangers) stranger.destroy();
  }

  #greet(socket: Socket): void {
    // Every error is followed by a close.
    socket.on('error', () => {});
    if (this.#strangers.size >= limits.edgeConnections) {
      this.#turnAway(socket, 'is one too many at once');
      return;
    }
    this.#strangers.add(socket);
    const patience = setTimeout(() => this.#turnAway(socket, 'does not say whose it is'), limits.edgePreambleMillis);
    socket.on('close', () => {
      clearTimeout(patience);
      this.#strangers.delete(socket);
    });
    readBlock(socket, PREAMBLE_BYTES, (preamble) => {
      clearTimeout(patience);
      this.#strangers.delete(socket);
      const problem = this.#problemOf(preamble);
      if (problem === undefined) this.#take(socket);
      else this.#turnAway(socket, problem);
    });
  }

  #problemOf(preamble: Buffer): string | undefined {
    const decoded = decodePreamble(preamble);
    if (decoded.kind === 'malformed') return decoded.problem;
    const foreign = foreignPart(decoded.edge, this.contract);
    if (foreign !== undefined) return foreign;
    return this.#producer === undefined ? undefined : 'comes second: the edge has its producer';
  }

  #turnAway(socket: Socket, problem: string): void {
    socket.destroy();
    this.events.onNote(`a connection to ${edgeName(this.contract)} was refused: it ${problem}`);
  }

  #take(socket: Socket): void {
    this.#producer = socket;
    socket.write(encodePreamble(this.contract));
    socket.on('data', (chunk: Buffer) => {
      this.#decoder.push(chunk);
      this.#pump();
    });
    socket.on('close', () => {
      this.#ended = true;
      this.#pump();
    });
    this.events.onReady();
    socket.resume();
  }

  /** Hands out what has arrived as far as the ring has room; the rest stays in the socket and slows the producer. */
  #pump(): void {
    // A listener that takes an object at once would come back here from inside.
    if (this.#pumping) return;
    this.#pumping = true;
    while (!this.#over && this.#step());
    this.#pumping = false;
  }

  /** Whether to go on. */
  #step(): boolean {
    const room = this.#held === 0 ? Number.POSITIVE_INFINITY : this.contract.capacity - this.#held;
    const decoded = this.#decoder.next(room);
    switch (decoded.kind) {
      case 'object':
        this.#held += recordBytes(decoded.object);
        this.events.onObject(decoded.object);
        return true;
      case 'starved':
        if (this.#ended) this.#fail(this.#decoder.end());
        else this.#producer?.resume();
        return false;
      case 'no-room':
        this.#producer?.pause();
        return false;
      case 'fault':
        this.#fail(decoded.fault);
        return false;
    }
  }

  #fail(fault: EdgeFault): void {
    this.close();
    this.events.onFault(fault);
  }
}
