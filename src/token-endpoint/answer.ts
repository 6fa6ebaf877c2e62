import { type TextDelta, type TextDone, TextDoneReason } from '../../gen/stageplane/v1/token_endpoint.js';
import { limits } from '../core/limits.js';
import type { SessionPrompt } from './stage-session.js';
import { StopFinder } from './stop-finder.js';
import { TextStream } from './text-stream.js';
import type { Tokenizer } from './tokenizer.js';

export interface AdmittedPrompt extends SessionPrompt {
  readonly requestId: string;
  /** Empty for none. */
  readonly conversation: string;
  /** Of the answer; may be infinite. */
  readonly maxTokens: number;
  /** Texts that end the answer. */
  readonly stop: readonly string[];
}

/** One request from its admission to its `done`: its prompt, its text so far and its clock. Times are milliseconds. */
export class Answer {
  readonly #text = new TextStream();
  readonly #stops: StopFinder;
  #generated = 0;
  #acknowledged = 0;
  #firstAt: number | undefined;
  #lastAt = 0;

  constructor(
    readonly prompt: AdmittedPrompt,
    readonly startedAt: number,
  ) {
    this.#stops = new StopFinder(prompt.stop);
  }

  /** Why no further token is wanted; undefined when one is. */
  get completion(): TextDoneReason | undefined {
    if (this.#stops.isFound) return TextDoneReason.TEXT_DONE_REASON_STOP_SEQUENCE;
    return this.#isEnough(this.#generated) ? TextDoneReason.TEXT_DONE_REASON_MAX_TOKENS : undefined;
  }

  /** Whether its reader is so far behind that it has to wait. */
  get isAhead(): boolean {
    return this.#isTooFar(this.#generated);
  }

  /** Whether yet another token is wanted after the next one, and may be made, whatever the next one says. */
  get goesOnAnyway(): boolean {
    const next = this.#generated + 1;
    return this.prompt.stop.length === 0 && !this.#isEnough(next) && !this.#isTooFar(next);
  }

  /** Notes how many tokens the reader has in all; says whether that is more than before. */
  acknowledge(tokens: number): boolean {
    const known = Math.min(tokens, this.#generated);
    const isMore = known > this.#acknowledged;
    if (isMore) this.#acknowledged = known;
    return isMore;
  }

  /** Adds a token; gives what its reader gets. Undefined when the tokenizer has no such token. */
  add(token: number, tokenizer: Tokenizer, at: number): TextDelta | undefined {
    const piece = tokenizer.piece(token);
    if (piece === undefined) return undefined;
    this.#generated += 1;
    this.#firstAt ??= at;
    this.#lastAt = at;
    return { requestId: this.prompt.requestId, text: this.#stops.push(this.#text.push(piece)), tokenIds: [token] };
  }

  /** The text of a character that never became whole, and of what might have become a stop text. */
  rest(): TextDelta | undefined {
    const text = this.#stops.push(this.#text.end()) + this.#stops.end();
    return text === '' ? undefined : { requestId: this.prompt.requestId, text, tokenIds: [] };
  }

  done(reason: TextDoneReason, message: string, reusedTokens: number): TextDone {
    const firstMillis = this.#firstAt === undefined ? 0 : this.#firstAt - this.startedAt;
    return {
      requestId: this.prompt.requestId,
      // The end of the text itself may have been the last of a stop text.
      reason: this.#stops.isFound ? TextDoneReason.TEXT_DONE_REASON_STOP_SEQUENCE : reason,
      message,
      promptTokens: this.prompt.tokens.length,
      reusedTokens,
      generatedTokens: this.#generated,
      firstTokenMicros: BigInt(Math.round(firstMillis * 1000)),
      tokensPerSecondMillis: BigInt(Math.round(this.#tokensPerSecond() * 1000)),
    };
  }

  #isEnough(generated: number): boolean {
    return generated >= this.prompt.maxTokens;
  }

  #isTooFar(generated: number): boolean {
    return generated - this.#acknowledged >= limits.unreadTokens;
  }

  #tokensPerSecond(): number {
    const millis = this.#lastAt - (this.#firstAt ?? 0);
    return this.#generated > 1 && millis > 0 ? ((this.#generated - 1) / millis) * 1000 : 0;
  }
}
