import { connect, type Socket } from 'node:net';
import { limits } from '../../core/limits.js';
import type { EdgeContract } from './edge-contract.js';
import type { EdgeFault } from './edge-fault.js';
import { edgeName, encodePreamble, PREAMBLE_BYTES } from './edge-preamble.js';
import { NewestObjects } from './newest-objects.js';
import { HEADER_BYTES, objectFlags, type StageObject } from './object-record.js';
import { readBlock } from './read-block.js';
import { RecordWriter } from './record-writer.js';
import { SessionSequences } from './session-sequences.js';

/** What the producer's end of an edge tells. */
export interface ProducerEvents {
  /** The consumer has taken this producer. Once. */
  onReady(): void;
  /** There is room again after `hasRoom` said no. */
  onRoom(): void;
  /** The edge is over. Once, and nothing follows. Not for an end that may reopen. */
  onFault(fault: EdgeFault): void;
  /** A sentence for the log: why the edge is not ready yet, once until it is. */
  onNote(sentence: string): void;
}

/** In what the producer's end of a token edge differs. */
export interface ProducerOptions {
  /**
   * The end of the consumer is no fault: it is connected to again, and what is sent meanwhile holds nobody up. Only the
   * newest objects are kept for it. Default false.
   */
  readonly reopens?: boolean;
}

/** The producer's end of one edge. Connects until its consumer takes it; what ends it then is final, or begins anew. */
export class EdgeDialer {
  #sequences = new SessionSequences();
  /** There is some once the consumer was lost, and until it is back. */
  #missed: NewestObjects | undefined;
  #socket: Socket | undefined;
  #writer: RecordWriter | undefined;
  #retry: NodeJS.Timeout | undefined;
  #ready = false;
  #wasReady = false;
  #over = false;
  #noted = false;
  /** Someone waits for room. */
  #awaited = false;

  readonly #written = () => {
    if (!this.#awaited || this.#over) return;
    this.#awaited = false;
    this.events.onRoom();
  };

  /** Begins to connect at once. */
  constructor(
    readonly path: string,
    readonly contract: EdgeContract,
    readonly events: ProducerEvents,
    readonly options: ProducerOptions = {},
  ) {
    this.#connect();
  }

  /** Whether an object with `payloadBytes` fits beside what is not written yet; when not, `onRoom` tells. */
  hasRoom(payloadBytes: number): boolean {
    if (this.#missed !== undefined) return true;
    const waiting = this.#socket?.writableLength ?? 0;
    const fits = waiting === 0 || waiting + HEADER_BYTES + payloadBytes <= this.contract.capacity;
    this.#awaited = !this.#isOpen || !fits;
    return !this.#awaited;
  }

  /** Only when there is room (I16). */
  send(object: StageObject): void {
    if (this.#over) return;
    if (this.#missed === undefined) this.#write(object);
    else this.#missed.add(object);
  }

  /** Ends the edge; what was sent still arrives. */
  close(): void {
    this.#over = true;
    clearTimeout(this.#retry);
    if (this.#ready) this.#socket?.end();
    else this.#socket?.destroy();
  }

  #write(object: StageObject): void {
    const { session, flags } = object;
    const record = { session, flags, payload: object.payload, sequence: this.#sequences.next(session) };
    if ((flags & objectFlags.RELEASE) !== 0) this.#sequences.forget(session);
    else this.#sequences.advance(session);
    this.#writer!.write(record, this.#written);
  }

  get #isOpen(): boolean {
    return this.#ready && !this.#socket!.destroyed;
  }

  #connect(): void {
    const socket = connect(this.path);
    this.#socket = socket;
    this.#writer = new RecordWriter(socket);
    let problem = 'its consumer closed the connection';
    socket.on('error', (error) => {
      problem = error.message;
    });
    socket.on('close', () => this.#closed(problem));
    const preamble = encodePreamble(this.contract);
    socket.on('connect', () => socket.write(preamble));
    // Being connected says little: the consumer may refuse, and a gateway connects before it knows of a consumer.
    readBlock(socket, PREAMBLE_BYTES, (answer) => {
      if (!answer.equals(preamble)) {
        problem = 'whatever listens there is not its consumer';
        socket.destroy();
        return;
      }
      // A consumer says nothing more, but only a socket that is read notices its end.
      socket.resume();
      this.#taken();
    });
  }

  #taken(): void {
    this.#ready = true;
    if (!this.#wasReady) this.events.onReady();
    this.#wasReady = true;
    // A prompt of the next consumer may have been answered before its own answer came here.
    const missed = this.#missed?.objects() ?? [];
    this.#missed = undefined;
    for (const object of missed) this.#write(object);
    this.#written();
  }

  #closed(problem: string): void {
    if (this.#over) return;
    const name = edgeName(this.contract);
    if (this.#ready && !this.options.reopens) {
      this.#over = true;
      this.events.onFault({
        kind: 'closed',
        message: `the consumer closed ${name}: look for the fault of the stage after`,
      });
      return;
    }
    this.#retry = setTimeout(() => this.#connect(), limits.edgeRetryMillis);
    if (this.#ready) this.#lose();
    if (this.#noted) return;
    this.#noted = true;
    this.events.onNote(`${name} is ${this.#wasReady ? 'no longer' : 'not'} connected (${problem}); it goes on trying`);
  }

  /** The next consumer knows nothing of this one's sessions: every count begins anew. */
  #lose(): void {
    this.#ready = false;
    this.#noted = false;
    this.#sequences = new SessionSequences();
    this.#missed = new NewestObjects(this.contract.capacity);
    this.#written();
  }
}
