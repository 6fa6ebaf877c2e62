/** Numbers drawn evenly from `center` plus or minus `spread`. */
export interface Draw {
  readonly count: number;
  readonly center: number;
  readonly spread: number;
}

const PIECE_FLOATS = 16 * 1024;

/** The same seed gives the same little-endian 32-bit floats, on every machine, in pieces of 64 KiB. */
export function* seededFloats(seed: string, { count, center, spread }: Draw): Generator<Uint8Array> {
  const next = randomUint32(hash(seed));
  for (let left = count; left > 0; left -= PIECE_FLOATS) {
    const piece = new DataView(new ArrayBuffer(Math.min(left, PIECE_FLOATS) * 4));
    for (let at = 0; at < piece.byteLength; at += 4) {
      piece.setFloat32(at, center + spread * (next() / 2 ** 31 - 1), true);
    }
    yield new Uint8Array(piece.buffer);
  }
}

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (const byte of Buffer.from(text)) value = Math.imul(value ^ byte, 0x01000193) >>> 0;
  return value;
}

/** SplitMix with 32 bits of state: fast, even, and no good for secrets. */
function randomUint32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return (mixed ^ (mixed >>> 15)) >>> 0;
  };
}
