import { createHash } from 'node:crypto';

/** An index of logits, drawn with probability exp(logit / temperature) / sum. `unit` is in [0, 1), `most` the greatest logit. */
export function draw(logits: Float32Array, most: number, temperature: number, unit: number): number {
  let sum = 0;
  for (let index = 0; index < logits.length; index++) sum += Math.exp((logits[index]! - most) / temperature);
  let rest = unit * sum;
  let last = 0;
  for (let index = 0; index < logits.length; index++) {
    const weight = Math.exp((logits[index]! - most) / temperature);
    rest -= weight;
    if (rest < 0) return index;
    if (weight > 0) last = index;
  }
  // Rounding can leave a crumb of `rest` after the last weight.
  return last;
}

/** A number in [0, 1) for each seed and position: 53 bits of a hash of both. */
export function unitAt(seed: bigint, position: number): number {
  const hash = createHash('sha256').update(`${seed} ${position}`).digest();
  return Number(hash.readBigUInt64LE() >> 11n) / 2 ** 53;
}
