import type { Millis } from '../core/ids.js';

/** Milliseconds between two looks at the clock. */
const LOOK_MILLIS = 1000;

/**
 * Rings once at a moment of a clock that counts suspend. A plain timer stands still while the machine sleeps, so the
 * clock is looked at every second.
 */
export class Alarm {
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly now: () => Millis,
    private readonly ring: () => void,
  ) {}

  /** Replaces what was set before. */
  set(at: Millis): void {
    this.cancel();
    const left = at - this.now();
    this.#timer = setTimeout(
      () => {
        if (this.now() >= at) this.ring();
        else this.set(at);
      },
      Math.min(Math.max(left, 0), LOOK_MILLIS),
    );
  }

  cancel(): void {
    clearTimeout(this.#timer);
  }
}
