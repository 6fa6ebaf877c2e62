/** How often something may happen: so many at once, and then so many per second. */
export interface Rate {
  readonly burst: number;
  readonly perSecond: number;
}

/** What is left of a rate; times are milliseconds of any clock that never goes back. */
export class TokenBucket {
  private tokens: number;

  constructor(
    private readonly rate: Rate,
    private at: number,
  ) {
    this.tokens = rate.burst;
  }

  /** Takes one. Gives 0, or the milliseconds after which there will be one, and then takes none. */
  take(now: number): number {
    this.fill(now);
    if (this.tokens >= 1) {
      this.tokens -= 1;
      return 0;
    }
    return ((1 - this.tokens) * 1000) / this.rate.perSecond;
  }

  private fill(now: number): void {
    const { burst, perSecond } = this.rate;
    this.tokens = Math.min(burst, this.tokens + (Math.max(0, now - this.at) * perSecond) / 1000);
    this.at = Math.max(now, this.at);
  }
}
