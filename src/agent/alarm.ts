import type { Millis } from '../core/ids.js';
import { limits } from '../core/limits.js';

/**
 * Rings once at a moment of a clock that counts suspend. A plain timer stands still while the machine sleeps, so the
 * clock is looked at again and again.
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
      Math.min(Math.max(left, 0), limits.clockLookMillis),
    );
  }

  cancel(): void {
    clearTimeout(this.#timer);
  }
}
