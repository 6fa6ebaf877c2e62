import { Random } from '../sim/random.js';

/** Bytes of an input that say into which pieces the rest of it is cut. */
export const CHUNKING_BYTES = 4;

/** An input: how its bytes are cut, and the bytes. */
export function withChunking(bytes: Uint8Array, chunking = 0): Buffer {
  const head = Buffer.alloc(CHUNKING_BYTES);
  head.writeUInt32LE(chunking);
  return Buffer.concat([head, bytes]);
}

/** The bytes of an input in its pieces; those of the chunking 0 in one. */
export function chunksOf(input: Buffer): Buffer[] {
  const bytes = input.subarray(CHUNKING_BYTES);
  const chunking = input.length < CHUNKING_BYTES ? 0 : input.readUInt32LE(0);
  if (chunking === 0) return [bytes];
  const random = new Random(`chunks/${chunking}`);
  const longest = random.pick([1, 7, 64, 4096, 65_536]);
  const chunks: Buffer[] = [];
  // Single bytes are tried where it is quick: at the front.
  for (let at = 0; at < bytes.length; ) {
    const length = at > 2000 ? 4096 : random.int(1, longest);
    chunks.push(bytes.subarray(at, at + length));
    at += length;
  }
  return chunks;
}
