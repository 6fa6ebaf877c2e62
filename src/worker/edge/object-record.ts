import { limits } from '../../core/limits.js';

/** Flags of an object; the sets that may occur together are in `flagsProblem`. */
export const objectFlags = {
  /** The prompt goes on: no token is due. */
  MORE: 1,
  /** The session ends after this object. */
  RELEASE: 2,
  /** Drop what is under way of the session. No payload; comes back on token-out as the confirmation. */
  CANCEL: 4,
  /** Reserved: rows of several sessions. */
  BATCH: 8,
  /** Drop the session's KV from a position on. The payload is that position, u32. */
  TRUNCATE: 16,
  /** How the session's tokens are picked from here on. Every stage passes it on but the last; no payload: as planned. */
  SAMPLING: 32,
} as const;

/** What an object says, whatever edge it crosses. */
export interface StageObject {
  /** The generation session; never used again in a generation. */
  readonly session: bigint;
  /** `objectFlags`, or'ed. */
  readonly flags: number;
  /** Token ids in u32 or activation rows in f32, little endian; the bytes are not written to again. */
  readonly payload: Uint8Array;
}

/** An object as it stands on one edge. */
export interface ObjectRecord extends StageObject {
  /** Counts from 0 by one per session and edge. */
  readonly sequence: number;
}

export interface ObjectHeader {
  readonly magic: number;
  readonly version: number;
  readonly headerBytes: number;
  readonly session: bigint;
  /** Rounded above 2^53, where no honest sequence or extent lies. */
  readonly sequence: number;
  readonly extent: number;
  readonly flags: number;
  readonly reserved: number;
}

/** "MO01", read as little endian. */
export const OBJECT_MAGIC = 0x31304f4d;
export const OBJECT_VERSION = 1;
/** Magic u32, version u16, header length u16, session u64, sequence u64, extent u64, flags u32, reserved u32. */
export const HEADER_BYTES = 40;

const TWO_TO_32 = 2 ** 32;

/** The header alone: the payload follows it on the stream. */
export function encodeHeader(object: ObjectRecord): Uint8Array {
  const header = new Uint8Array(HEADER_BYTES);
  writeHeader(new DataView(header.buffer), object);
  return header;
}

/** The same into the first bytes of a block. */
export function writeHeader(block: DataView, { session, sequence, flags, payload }: ObjectRecord): void {
  block.setUint32(0, OBJECT_MAGIC, true);
  block.setUint16(4, OBJECT_VERSION, true);
  block.setUint16(6, HEADER_BYTES, true);
  block.setBigUint64(8, session, true);
  writeCount(block, 16, sequence);
  writeCount(block, 24, payload.byteLength);
  block.setUint32(32, flags, true);
  block.setUint32(36, 0, true);
}

/** Reads 40 bytes and judges nothing. */
export function readHeader(block: DataView): ObjectHeader {
  return {
    magic: block.getUint32(0, true),
    version: block.getUint16(4, true),
    headerBytes: block.getUint16(6, true),
    session: block.getBigUint64(8, true),
    sequence: readCount(block, 16),
    extent: readCount(block, 24),
    flags: block.getUint32(32, true),
    reserved: block.getUint32(36, true),
  };
}

/** Bytes that an object occupies on an edge and in its ring. */
export function recordBytes(object: StageObject): number {
  return HEADER_BYTES + object.payload.byteLength;
}

/** Says what is wrong with flags and extent together; undefined when nothing is. */
export function flagsProblem(flags: number, extent: number): string | undefined {
  switch (flags) {
    case 0:
    case objectFlags.MORE:
      return extent === 0 ? 'has neither rows nor a purpose' : undefined;
    case objectFlags.RELEASE:
      return undefined;
    case objectFlags.CANCEL:
      return extent === 0 ? undefined : `is a CANCEL with ${extent} bytes of payload instead of none`;
    case objectFlags.TRUNCATE:
      return extent === 4 ? undefined : `is a TRUNCATE with ${extent} bytes of payload instead of 4`;
    case objectFlags.SAMPLING:
      return extent <= limits.samplingBytes
        ? undefined
        : `is a SAMPLING with ${extent} bytes of payload, ${limits.samplingBytes} at most are allowed`;
    default:
      return `has flags 0x${flags.toString(16)}, which mean nothing together in version ${OBJECT_VERSION}`;
  }
}

/** Whole numbers to 2^53 as u64: half the cost of a bigint. */
function writeCount(block: DataView, offset: number, value: number): void {
  block.setUint32(offset, value % TWO_TO_32, true);
  block.setUint32(offset + 4, Math.floor(value / TWO_TO_32), true);
}

function readCount(block: DataView, offset: number): number {
  return block.getUint32(offset, true) + block.getUint32(offset + 4, true) * TWO_TO_32;
}
