import { limits } from '../core/limits.js';
import { type Rate, TokenBucket } from '../core/token-bucket.js';

/** How often each caller may call. */
export class CallRates {
  private readonly buckets = new Map<string, TokenBucket>();

  constructor(private readonly rate: Rate = { burst: limits.callsAtOnce, perSecond: limits.callsPerSecond }) {}

  /** Counts a call. Gives 0, or the milliseconds to wait before another one. */
  take(caller: string, now: number): number {
    const bucket = this.buckets.get(caller) ?? new TokenBucket(this.rate, now);
    // The least recently used are the first: a flood of new callers forgets old ones, which are full by then (I16).
    this.buckets.delete(caller);
    this.buckets.set(caller, bucket);
    if (this.buckets.size > limits.ratedCallers) this.buckets.delete(this.buckets.keys().next().value ?? '');
    return bucket.take(now);
  }
}
