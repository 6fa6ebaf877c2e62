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
  /** The edge is over, after the last whole object. Once, and nothing follows. Not for an end that may reopen. */
  onFault(fault: EdgeFault): void;
  /** A sentence for the log: someone was turned away, or a producer that may come again has gone. */
  onNote(sentence: string): void;
}

/** In what the consumer's end of a token edge differs. */
export interface ConsumerOptions {
  /**
   * The end of the producer is no fault: the sessions that it has left open are cancelled and released, as if it had
   * said so, and it may come again. Default false.
   */
  readonly reopens?: boolean;
  /** Objects of lower sessions are left over from an earlier consumer and are passed over. Default 0. */
  readonly firstSession?: bigint;
}

export type ListenOutcome =
  | { readonly kind: 'listening'; readonly listener: EdgeListener }
  | { readonly kind: 'refused'; readonly fault: EdgeFault };

/** Listens for the producer of an edge on a Unix socket that does not exist yet, `limits.socketPathBytes` at most. */
export async function listenForEdge(
  path: string,
  contract: EdgeContract,
  events: ConsumerEvents,
  options: ConsumerOptions = {},
): Promise<ListenOutcome> {
  const server = createServer();
  try {
    // Node itself would cut a longer path and listen somewhere else.
    if (Buffer.byteLength(path) > limits.socketPathBytes) throw new Error(`over ${limits.socketPathBytes} bytes`);
    server.listen(path);
    await once(server, 'listening');
    return { kind: 'listening', listener: new EdgeListener(server, contract, events, options) };
  } catch (error) {
    const { message } = error as Error;
    const sentence = `${edgeName(contract)} cannot listen on ${path} (${message}): give it a new path in a folder of its own`;
    return { kind: 'refused', fault: { kind: 'not-listening', message: sentence } };
  }
}

/** The consumer's end of one edge: its socket, its ring, and the one producer that it takes at a time. */
export class EdgeListener {
  #decoder: RecordDecoder;
  /** Connections that have not said yet whose they are. */
  readonly #strangers = new Set<Socket>();
  #producer: Socket | undefined;
  /** Bytes of the objects that were handed out and not taken yet. */
  #held = 0;
  #wasReady = false;
  #ended = false;
  #over = false;
  #pumping = false;

  constructor(
    readonly server: Server,
    readonly contract: EdgeContract,
    readonly events: ConsumerEvents,
    readonly options: ConsumerOptions,
  ) {
    this.#decoder = this.#newDecoder();
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
    if (this.#producer === undefined) return undefined;
    if (this.options.reopens) this.#probe(this.#producer);
    return 'comes second: the edge has its producer';
  }

  /** While the ring is full nobody reads, and the end of a producer shows only when something is written to it. */
  #probe(producer: Socket): void {
    if (producer.writableLength === 0) producer.write(encodePreamble(this.contract));
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
      if (this.options.reopens) this.#reopen();
      else this.#end();
    });
    if (!this.#wasReady) this.events.onReady();
    this.#wasReady = true;
    socket.resume();
  }

  #end(): void {
    this.#ended = true;
    this.#pump();
  }

  /** What was not handed out yet goes with the producer; what was, ends behind it. */
  #reopen(): void {
    if (this.#over) return;
    const ends = this.#decoder.ends();
    this.#producer = undefined;
    this.#decoder = this.#newDecoder();
    this.events.onNote(`the producer of ${edgeName(this.contract)} went away: its sessions end, and it may come again`);
    for (const object of ends) this.#handOut(object);
  }

  #newDecoder(): RecordDecoder {
    return new RecordDecoder(this.contract, this.options.firstSession);
  }

  #handOut(object: ObjectRecord): void {
    this.#held += recordBytes(object);
    this.events.onObject(object);
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
        this.#handOut(decoded.object);
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
