import { createHash } from 'node:crypto';

export interface SamplingSettings {
  /** Thousandths; 0 is greedy. */
  readonly temperatureMillis: number;
  /** Candidates kept; 0 keeps all. */
  readonly topK: number;
  readonly seed: bigint;
}

/**
 * The token that follows `position`. Greedy takes the greatest logit, the lowest id among equals. Otherwise one of the
 * `topK` greatest is drawn with probability exp(logit / temperature) / sum. The draw depends on the seed and the position
 * alone, so that a step that is repeated after a rollback draws the same. Throws when a logit is no number.
 */
export function pickToken(logits: Float32Array, position: number, settings: SamplingSettings): number {
  const greatest = indexOfGreatest(logits);
  if (settings.temperatureMillis === 0 || settings.topK === 1) return greatest;
  const candidates = candidatesOf(logits, settings.topK);
  const temperature = settings.temperatureMillis / 1000;
  const weights = candidates.map((id) => Math.exp((logits[id]! - logits[greatest]!) / temperature));
  let rest = unitAt(settings.seed, position) * weights.reduce((sum, weight) => sum + weight, 0);
  for (const [index, id] of candidates.entries()) {
    rest -= weights[index]!;
    if (rest < 0) return id;
  }
  // Rounding can leave a crumb of `rest` after the last weight.
  return candidates.at(-1)!;
}

function indexOfGreatest(logits: Float32Array): number {
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
 * Ids of the `topK` greatest logits, greatest first and lowest id first among equals: the order is part of the draw. All
 * ids, in their own order, when none is left out. One pass, since a vocabulary has hundreds of thousands and most of them
 * are below the least that is kept.
 */
function candidatesOf(logits: Float32Array, topK: number): number[] {
  if (topK === 0 || topK >= logits.length) return Array.from(logits.keys());
  const best: number[] = [];
  for (let id = 0; id < logits.length; id++) {
    if (best.length === topK && logits[id]! <= logits[best[topK - 1]!]!) continue;
    best.splice(placeOf(logits, best, id), 0, id);
    if (best.length > topK) best.pop();
  }
  return best;
}

/** Where `id` goes among ids that are sorted by falling logit: after its equals. */
function placeOf(logits: Float32Array, sorted: readonly number[], id: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (logits[sorted[middle]!]! >= logits[id]!) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A number in [0, 1) for each seed and position: 53 bits of a hash of both. */
function unitAt(seed: bigint, position: number): number {
  const hash = createHash('sha256').update(`${seed} ${position}`).digest();
  return Number(hash.readBigUInt64LE() >> 11n) / 2 ** 53;
}
