import { objectFlags, type StageObject } from '../worker/edge/object-record.js';

/** Bytes of a token id, u32 little endian. */
export const TOKEN_BYTES = 4;

/** A prompt's rows as objects of `microBatch` rows each, the last one what is left; all but it say that more comes. */
export function promptObjects(session: bigint, tokens: readonly number[], microBatch: number): StageObject[] {
  const objects: StageObject[] = [];
  for (let start = 0; start < tokens.length; start += microBatch) {
    const end = start + microBatch;
    const flags = end < tokens.length ? objectFlags.MORE : 0;
    objects.push({ session, flags, payload: tokenBytes(tokens.slice(start, end)) });
  }
  return objects;
}

export function tokenBytes(ids: readonly number[]): Uint8Array {
  const bytes = Buffer.alloc(ids.length * TOKEN_BYTES);
  for (const [index, id] of ids.entries()) bytes.writeUInt32LE(id, index * TOKEN_BYTES);
  return bytes;
}

/** The one u32 of a payload: a token, or a position. */
export function readUint32(payload: Uint8Array): number {
  return new DataView(payload.buffer, payload.byteOffset).getUint32(0, true);
}
