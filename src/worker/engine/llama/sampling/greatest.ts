/** Id of the greatest logit, the lowest among equals. Throws when a logit is no number. */
export function indexOfGreatest(logits: Float32Array): number {
  let greatest = 0;
  let most = Number.NEGATIVE_INFINITY;
  for (let id = 0; id < logits.length; id++) {
    const logit = logits[id]!;
    // One comparison for almost all of them; it does not hold for NaN either.
    if (logit <= most) continue;
    if (Number.isNaN(logit)) throw new Error(`the logit of token ${id} is no number: the model file may be damaged`);
    most = logit;
    greatest = id;
  }
  return greatest;
}

/**
 * Ids of the `count` greatest logits, greatest first and the lowest id first among equals. One pass with a heap of those
 * kept, the least at its top: a vocabulary has hundreds of thousands, and most of them are below that.
 */
export function greatestOf(logits: Float32Array, count: number): Int32Array {
  const bits = new Uint32Array(logits.buffer, logits.byteOffset, logits.length);
  const kept = new Float64Array(Math.min(count, logits.length));
  for (let id = 0; id < kept.length; id++) kept[id] = rankOf(bits[id]!, id);
  if (kept.length < logits.length) keepLowest(kept, logits, bits);
  // Without a comparison of our own, the sort is native.
  kept.sort();
  return Int32Array.from(kept, (rank) => rank % ID_RANGE);
}

/** More than any vocabulary has, and with 32 bits of a logit still a whole number below 2^53. */
const ID_RANGE = 2 ** 21;
const SIGN = 0x8000_0000;

/** A number that is lower for a greater logit, and for a lower id among equals. */
function rankOf(bits: number, id: number): number {
  // Floats of one sign are ordered like their bits. Minus zero is zero.
  const isNegative = bits > SIGN;
  return (isNegative ? bits : SIGN - 1 - (bits === SIGN ? 0 : bits)) * ID_RANGE + id;
}

/** Replaces ranks in `kept`, which has those of the first ids, by lower ones of the others. */
function keepLowest(kept: Float64Array, logits: Float32Array, bits: Uint32Array): void {
  for (let at = (kept.length >>> 1) - 1; at >= 0; at--) sink(kept, at);
  let least = logits[kept[0]! % ID_RANGE]!;
  for (let id = kept.length; id < logits.length; id++) {
    if (logits[id]! <= least) continue;
    kept[0] = rankOf(bits[id]!, id);
    sink(kept, 0);
    least = logits[kept[0]! % ID_RANGE]!;
  }
}

/** Lets the rank at a place of the heap go down until none below it is higher. */
function sink(heap: Float64Array, from: number): void {
  const rank = heap[from]!;
  let at = from;
  for (let below = 2 * at + 1; below < heap.length; below = 2 * at + 1) {
    if (below + 1 < heap.length && heap[below + 1]! > heap[below]!) below += 1;
    if (heap[below]! <= rank) break;
    heap[at] = heap[below]!;
    at = below;
  }
  heap[at] = rank;
}
