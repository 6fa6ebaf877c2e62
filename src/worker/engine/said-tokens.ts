import { limits } from '../../core/limits.js';
import type { AnswerSampling, SamplingSettings } from './sampling.js';

/** The tokens of one answer so far, by their positions, and the end of its prompt: what penalties look at. */
export class SaidTokens {
  readonly settings: SamplingSettings;
  readonly #promptTail: readonly number[];
  readonly #begin: number;
  readonly #answer: number[] = [];
  readonly #counts = new Map<number, number>();

  constructor({ settings, position, promptTail }: AnswerSampling) {
    this.settings = settings;
    this.#begin = position;
    this.#promptTail = promptTail;
  }

  /** How often the answer has each of its tokens. */
  get counts(): ReadonlyMap<number, number> {
    return this.#counts;
  }

  /** Each token among the last ones of prompt and answer that the repeat penalty looks back on. */
  recent(): ReadonlySet<number> {
    const window = this.settings.repeatLastN || limits.defaultRepeatLastTokens;
    const recent = new Set<number>(this.#answer.slice(-window));
    const rest = window - this.#answer.length;
    if (rest > 0) for (const token of this.#promptTail.slice(-rest)) recent.add(token);
    return recent;
  }

  /** Forgets what stands at `position` or after it: a step is done again. */
  rewind(position: number): void {
    const length = Math.max(0, position - this.#begin);
    while (this.#answer.length > length) this.#count(this.#answer.pop()!, -1);
  }

  /** Notes the token that was picked for `position`; inside the prompt, where nobody waits for one, it is none. */
  add(position: number, token: number): void {
    if (position < this.#begin) return;
    this.#answer.push(token);
    this.#count(token, 1);
  }

  #count(token: number, difference: 1 | -1): void {
    const times = (this.#counts.get(token) ?? 0) + difference;
    if (times === 0) this.#counts.delete(token);
    else this.#counts.set(token, times);
  }
}
