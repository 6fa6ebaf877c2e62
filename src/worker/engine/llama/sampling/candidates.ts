import type { SamplingSettings } from '../../sampling.js';
import { greatestOf } from './greatest.js';

/** Ids that are looked at first for a nucleus, and how many times more each time that they are too few. */
const FIRST_IDS = 64;
const GROWTH = 8;

/**
 * The ids that top_k, then top_p, then min_p leave, likeliest first and the lowest id first among equals; at least one.
 * Undefined when all of them stay. As in llama.cpp, shares are of the probabilities before any temperature, and top_p's
 * are those among what top_k has left. `most` is the greatest logit, and finite.
 */
export function candidatesOf(logits: Float32Array, most: number, settings: SamplingSettings): Int32Array | undefined {
  const { topK, topPMillis, minPMillis } = settings;
  const isCut = topK > 0 && topK < logits.length;
  const kept = isCut ? greatestOf(logits, topK) : undefined;
  const nucleus = topPMillis === 0 || topPMillis >= 1000 ? kept : nucleusOf(logits, most, topPMillis / 1000, kept);
  return minPMillis === 0 ? nucleus : likelyOf(logits, most + Math.log(minPMillis / 1000), nucleus);
}

/** The likeliest that together have a share of what all of `sorted` have, or all ids when that is absent. */
function nucleusOf(logits: Float32Array, most: number, share: number, sorted: Int32Array | undefined): Int32Array {
  if (sorted !== undefined) {
    let sum = 0;
    for (const id of sorted) sum += Math.exp(logits[id]! - most);
    return sorted.subarray(0, endOf(logits, most, share * sum, sorted));
  }
  let sum = 0;
  for (let id = 0; id < logits.length; id++) sum += Math.exp(logits[id]! - most);
  for (let count = FIRST_IDS; ; count *= GROWTH) {
    const likeliest = greatestOf(logits, count);
    const end = endOf(logits, most, share * sum, likeliest);
    if (end < likeliest.length || count >= logits.length) return likeliest.subarray(0, end);
  }
}

/** How many of the first are needed to have so much; all when they have less. */
function endOf(logits: Float32Array, most: number, enough: number, sorted: Int32Array): number {
  let sum = 0;
  for (let index = 0; index < sorted.length; index++) {
    sum += Math.exp(logits[sorted[index]!]! - most);
    if (sum >= enough) return index + 1;
  }
  return sorted.length;
}

/** Those with a logit of `least` or more. */
function likelyOf(logits: Float32Array, least: number, sorted: Int32Array | undefined): Int32Array {
  const isLikely = (id: number) => logits[id]! >= least;
  if (sorted !== undefined) {
    const end = sorted.findIndex((id) => !isLikely(id));
    return end < 0 ? sorted : sorted.subarray(0, end);
  }
  let count = 0;
  for (let id = 0; id < logits.length; id++) if (isLikely(id)) count += 1;
  return greatestOf(logits, count);
}
