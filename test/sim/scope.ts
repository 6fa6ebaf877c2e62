import { type Millis, millis, type WallMillis, wallMillis } from '../../src/core/ids.js';
import type { Clock } from '../../src/orchestrator/clock.js';
import type { VirtualTime } from './virtual-time.js';

/** How a clock differs from true time. */
export interface Skew {
  /** Milliseconds that it shows at the beginning of the simulation. */
  readonly origin: number;
  /** Its milliseconds per true one: 1.01 is one percent fast. */
  readonly rate: number;
}

/**
 * A process or a machine: what it has set in motion happens while it lives and is not paused. A machine's pause is a
 * suspend: its clock goes on, and everything that was due happens when it wakes.
 */
export class Scope implements Clock {
  #dead = false;
  #paused = false;
  #waiting: (() => void)[] = [];

  constructor(
    readonly time: VirtualTime,
    private readonly skew: Skew,
    private readonly within?: Scope,
  ) {}

  get isDead(): boolean {
    return this.#dead || (this.within?.isDead ?? false);
  }

  get isPaused(): boolean {
    return this.#paused || (this.within?.isPaused ?? false);
  }

  now(): Millis {
    return millis(this.skew.origin + this.time.now * this.skew.rate);
  }

  wall(): WallMillis {
    return wallMillis(1_700_000_000_000 + this.time.now + this.time.wallAhead);
  }

  /** @param delay on this clock; in whole milliseconds, and never none, as setTimeout has it */
  after(delay: number, act: () => void): () => void {
    return this.time.after(Math.max(1, Math.ceil(delay)) / this.skew.rate, () => this.run(act));
  }

  soon(act: () => void): void {
    this.time.after(0, () => this.run(act));
  }

  /** Now, when it wakes, or never. */
  run(act: () => void): void {
    if (this.isDead) return;
    const asleep = this.#asleep();
    if (asleep) asleep.#waiting.push(() => this.run(act));
    else act();
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const act of waiting) act();
  }

  /** kill -9. */
  kill(): void {
    this.#dead = true;
    this.#waiting = [];
  }

  #asleep(): Scope | undefined {
    if (this.#paused || !this.within) return this.#paused ? this : undefined;
    return this.within.#asleep();
  }
}
