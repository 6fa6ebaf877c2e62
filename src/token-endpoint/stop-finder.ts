/**
 * Cuts a text off before the stop text that is complete first; of those complete at the same character, before the one that
 * begins first. However the text is cut into pieces, what comes out is the same. What may be the beginning of a stop text
 * waits, and nothing else does.
 */
export class StopFinder {
  readonly #longest: number;
  /** The longest end of the text so far that a stop text begins with, but is not. */
  #held = '';
  #isFound = false;

  /** @param stops none empty, and none with half of a surrogate pair; then no cut is inside of a character */
  constructor(private readonly stops: readonly string[]) {
    this.#longest = Math.max(0, ...stops.map(({ length }) => length));
  }

  /** Whether a stop text has come. Nothing comes out any more. */
  get isFound(): boolean {
    return this.#isFound;
  }

  /** Adds text; gives what is sure to stand before any stop text. */
  push(text: string): string {
    if (this.stops.length === 0 || text === '') return text;
    if (this.#isFound) return '';
    const all = this.#held + text;
    for (let end = this.#held.length + 1; end <= all.length; end++) {
      const begin = this.#beginOfStop(all, end);
      if (begin === undefined) continue;
      this.#isFound = true;
      this.#held = '';
      return all.slice(0, begin);
    }
    const sure = this.#endOfSure(all);
    this.#held = all.slice(sure);
    return all.slice(0, sure);
  }

  /** The text is over: what waits is no stop text. */
  end(): string {
    const rest = this.#held;
    this.#held = '';
    return rest;
  }

  #beginOfStop(text: string, end: number): number | undefined {
    let begin: number | undefined;
    for (const stop of this.stops) {
      if (text.endsWith(stop, end)) begin = Math.min(begin ?? end, end - stop.length);
    }
    return begin;
  }

  #endOfSure(text: string): number {
    for (let from = Math.max(0, text.length - this.#longest + 1); from < text.length; from++) {
      const end = text.slice(from);
      if (this.stops.some((stop) => stop.startsWith(end))) return from;
    }
    return text.length;
  }
}
