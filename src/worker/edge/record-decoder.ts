import { limits } from '../../core/limits.js';
import type { EdgeContract } from './edge-contract.js';
import type { EdgeFault } from './edge-fault.js';
import { edgeName } from './edge-preamble.js';
import {
  flagsProblem,
  HEADER_BYTES,
  OBJECT_MAGIC,
  OBJECT_VERSION,
  type ObjectHeader,
  type ObjectRecord,
  objectFlags,
  readHeader,
} from './object-record.js';
import { SessionSequences } from './session-sequences.js';

export type Decoded =
  | { readonly kind: 'object'; readonly object: ObjectRecord }
  /** All bytes are used up: push more. */
  | { readonly kind: 'starved' }
  /** The next object is larger than the room that was offered. */
  | { readonly kind: 'no-room' }
  /** Nothing after it means anything. */
  | { readonly kind: 'fault'; readonly fault: EdgeFault };

const STARVED: Decoded = { kind: 'starved' };
const NO_ROOM: Decoded = { kind: 'no-room' };
const NOTHING = Buffer.alloc(0);

/** A block of known length whose bytes arrive in pieces. */
interface Block {
  readonly bytes: Buffer;
  filled: number;
}

/** Turns the byte stream of one edge into objects, however it is cut. Holds one chunk and one object at most (I16). */
export class RecordDecoder {
  readonly #sequences = new SessionSequences();
  readonly #headerBlock: Block = { bytes: Buffer.alloc(HEADER_BYTES), filled: 0 };
  readonly #headerView = new DataView(this.#headerBlock.bytes.buffer, this.#headerBlock.bytes.byteOffset, HEADER_BYTES);
  #chunk: Buffer = NOTHING;
  #header: ObjectHeader | undefined;
  #payloadBlock: Block | undefined;
  #fault: EdgeFault | undefined;

  constructor(
    readonly contract: EdgeContract,
    /** Objects of lower sessions are passed over, whatever their sequence. */
    readonly firstSession = 0n,
  ) {}

  /** Adds bytes. Only when `next` was starved: the chunk before must be used up. */
  push(chunk: Buffer): void {
    this.#chunk = chunk;
  }

  /** The next object, if it takes at most `room` bytes, header included. */
  next(room: number): Decoded {
    for (;;) {
      const decoded = this.#next(room);
      if (decoded.kind !== 'object' || !this.#isPassedOver(decoded.object)) return decoded;
    }
  }

  /** The stream has ended and another may follow: what ends each session that its producer has left open. */
  ends(): ObjectRecord[] {
    // The header of an unfinished object has been counted already, also when it was to be the last of its session.
    const unfinished = this.#header === undefined ? [] : [this.#header.session];
    const open = new Set([...this.#sequences.sessions(), ...unfinished]);
    return [...open].flatMap((session) => {
      const sequence = this.#sequences.next(session);
      return [
        { session, sequence, flags: objectFlags.CANCEL, payload: NOTHING },
        { session, sequence: sequence + 1, flags: objectFlags.RELEASE, payload: NOTHING },
      ];
    });
  }

  #next(room: number): Decoded {
    if (this.#fault === undefined && this.#header === undefined) this.#readHeader();
    if (this.#fault !== undefined) return { kind: 'fault', fault: this.#fault };
    if (this.#header === undefined) return STARVED;
    if (this.#payloadBlock === undefined && HEADER_BYTES + this.#header.extent > room) return NO_ROOM;
    const payload = this.#readPayload(this.#header.extent);
    if (payload === undefined) return STARVED;
    const { session, sequence, flags } = this.#header;
    this.#header = undefined;
    this.#payloadBlock = undefined;
    return { kind: 'object', object: { session, sequence, flags, payload } };
  }

  /** The stream has ended: the fault that this is, after all objects were taken. */
  end(): EdgeFault {
    const name = edgeName(this.contract);
    if (this.#fault !== undefined) return this.#fault;
    if (this.#header === undefined && this.#headerBlock.filled === 0) {
      return { kind: 'closed', message: `the producer closed ${name}: look for the fault of the stage before` };
    }
    const message = `the producer ended inside an object of ${name}: look for the fault of the stage before`;
    return { kind: 'end-inside-object', message };
  }

  #readHeader(): void {
    if (!this.#fill(this.#headerBlock)) return;
    this.#headerBlock.filled = 0;
    const header = readHeader(this.#headerView);
    this.#fault = this.#faultOf(header);
    if (this.#fault !== undefined) return;
    this.#header = header;
    if (this.#isPassedOver(header)) return;
    if ((header.flags & objectFlags.RELEASE) !== 0) this.#sequences.forget(header.session);
    else this.#sequences.advance(header.session);
  }

  /** A view where all bytes are at hand, a new block where they come in pieces. */
  #readPayload(extent: number): Uint8Array | undefined {
    if (this.#payloadBlock === undefined) {
      if (this.#chunk.length >= extent) return this.#take(extent);
      this.#payloadBlock = { bytes: Buffer.allocUnsafeSlow(extent), filled: 0 };
    }
    return this.#fill(this.#payloadBlock) ? this.#payloadBlock.bytes : undefined;
  }

  #fill(block: Block): boolean {
    const part = this.#take(Math.min(this.#chunk.length, block.bytes.length - block.filled));
    part.copy(block.bytes, block.filled);
    block.filled += part.length;
    return block.filled === block.bytes.length;
  }

  #take(bytes: number): Buffer {
    const part = this.#chunk.subarray(0, bytes);
    this.#chunk = bytes === this.#chunk.length ? NOTHING : this.#chunk.subarray(bytes);
    return part;
  }

  #faultOf(header: ObjectHeader): EdgeFault | undefined {
    const { magic, version, headerBytes, session, sequence, extent, flags, reserved } = header;
    const { maxExtent, alignment } = this.contract;
    if (magic !== OBJECT_MAGIC) return this.#broken('wrong-magic', `has magic 0x${magic.toString(16)}`);
    if (version !== OBJECT_VERSION) {
      return this.#broken('wrong-version', `is of version ${version}, this end speaks ${OBJECT_VERSION}`);
    }
    if (headerBytes !== HEADER_BYTES)
      return this.#broken('wrong-header-length', `has a header of ${headerBytes} bytes`);
    if (reserved !== 0) return this.#broken('wrong-reserved', `has ${reserved} where version ${version} has 0`);
    // What is no rows is bounded by itself: a short context has room for few rows.
    const most = flags === objectFlags.SAMPLING ? limits.samplingBytes : maxExtent;
    if (extent > most) {
      const what = `has ${extent} bytes of payload, ${most} at most are allowed`;
      return this.#broken('extent-over-max', what, 'cut prompts into pieces of at most one micro-batch');
    }
    if (extent % alignment !== 0) {
      return this.#broken('wrong-alignment', `has ${extent} bytes of payload, which is no multiple of ${alignment}`);
    }
    const flagged = flagsProblem(flags, extent);
    if (flagged !== undefined) return this.#broken('wrong-flags', flagged);
    if (this.#isPassedOver(header)) return undefined;
    const expected = this.#sequences.next(session);
    if (sequence !== expected) {
      return this.#broken('wrong-sequence', `has sequence ${sequence} in session ${session}, ${expected} was due`);
    }
    if (this.#sequences.isOver(session)) {
      return this.#broken(
        'too-many-sessions',
        `opens a session beyond the ${limits.sessionsPerStage} that an edge has`,
      );
    }
    return undefined;
  }

  #isPassedOver({ session }: Pick<ObjectHeader, 'session'>): boolean {
    return session < this.firstSession;
  }

  #broken(kind: EdgeFault['kind'], what: string, advice = 'run one version on both of its nodes'): EdgeFault {
    return { kind, message: `an object on ${edgeName(this.contract)} ${what}: ${advice}` };
  }
}
