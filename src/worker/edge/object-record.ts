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

/** The header alone: the payload follows it on the stream and is never copied. */
export function encodeHeader({ session, sequence, flags, payload }: ObjectRecord): Uint8Array {
  const header = Buffer.allocUnsafe(HEADER_BYTES);
  header.writeUInt32LE(OBJECT_MAGIC, 0);
  header.writeUInt16LE(OBJECT_VERSION, 4);
  header.writeUInt16LE(HEADER_BYTES, 6);
  header.writeBigUInt64LE(session, 8);
  writeCount(header, sequence, 16);
  writeCount(header, payload.byteLength, 24);
  header.writeUInt32LE(flags, 32);
  header.writeUInt32LE(0, 36);
  return header;
}

/** Reads 40 bytes and judges nothing. */
export function decodeHeader(bytes: Buffer): ObjectHeader {
  return {
    magic: bytes.readUInt32LE(0),
    version: bytes.readUInt16LE(4),
    headerBytes: bytes.readUInt16LE(6),
    session: bytes.readBigUInt64LE(8),
    sequence: readCount(bytes, 16),
    extent: readCount(bytes, 24),
    flags: bytes.readUInt32LE(32),
    reserved: bytes.readUInt32LE(36),
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
    default:
      return `has flags 0x${flags.toString(16)}, which mean nothing together in version ${OBJECT_VERSION}`;
  }
}

/** Whole numbers to 2^53 as u64: half the cost of a bigint. */
function writeCount(bytes: Buffer, value: number, offset: number): void {
  bytes.writeUInt32LE(value % TWO_TO_32, offset);
  bytes.writeUInt32LE(Math.floor(value / TWO_TO_32), offset + 4);
}

function readCount(bytes: Buffer, offset: number): number {
  return bytes.readUInt32LE(offset) + bytes.readUInt32LE(offset + 4) * TWO_TO_32;
}
