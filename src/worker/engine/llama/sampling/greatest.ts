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
  const kept = new Int32Array(Math.min(count, logits.length));
  for (let id = 0; id < kept.length; id++) kept[id] = id;
  for (let at = (kept.length >>> 1) - 1; at >= 0; at--) sink(kept, at, logits);
  for (let id = kept.length; id < logits.length; id++) {
    if (logits[id]! <= logits[kept[0]!]!) continue;
    kept[0] = id;
    sink(kept, 0, logits);
  }
  return kept.sort((a, b) => (isLess(a, b, logits) ? 1 : -1));
}

/** Lets the id at a place of the heap go down until it goes before those below it. */
function sink(heap: Int32Array, from: number, logits: Float32Array): void {
  const id = heap[from]!;
  let at = from;
  for (let below = 2 * at + 1; below < heap.length; below = 2 * at + 1) {
    if (below + 1 < heap.length && isLess(heap[below + 1]!, heap[below]!, logits)) below += 1;
    if (!isLess(heap[below]!, id, logits)) break;
    heap[at] = heap[below]!;
    at = below;
  }
  heap[at] = id;
}

/** Of equals the highest id is the least. */
function isLess(a: number, b: number, logits: Float32Array): boolean {
  const [one, other] = [logits[a]!, logits[b]!];
  return one < other || (one === other && a > b);
}
