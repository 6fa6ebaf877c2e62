const BUCKET_MILLIS = 500;
const BUCKETS = 10;

/** Tokens per second over the last five seconds; times are milliseconds of a clock that never goes back. */
export class TokenRate {
  readonly #tokens: number[] = Array(BUCKETS).fill(0);
  #newest = 0;
  /** Since when tokens have come without a pause as long as the window. */
  #since = 0;

  count(tokens: number, now: number): void {
    if (this.perSecond(now) === 0) this.#since = now;
    this.#tokens[this.#newest % BUCKETS]! += tokens;
  }

  perSecond(now: number): number {
    this.#turnTo(Math.floor(now / BUCKET_MILLIS));
    const sum = this.#tokens.reduce((total, tokens) => total + tokens, 0);
    const millis = Math.min(BUCKETS * BUCKET_MILLIS, Math.max(1000, now - this.#since));
    return (sum * 1000) / millis;
  }

  #turnTo(bucket: number): void {
    const passed = Math.min(BUCKETS, bucket - this.#newest);
    for (let step = 1; step <= passed; step++) this.#tokens[(bucket - passed + step) % BUCKETS] = 0;
    this.#newest = bucket;
  }
}
