import type { TextAnswer, TextDelta, TextDone, TextRefused } from '../../../gen/stageplane/v1/token_endpoint.js';
import { limits } from '../../core/limits.js';
import type { AnswerReader } from '../../token-endpoint/open-answers.js';

/** What becomes of the answer, besides its text. */
export interface OneShotListener {
  /** Tokens that the answer has so far: it need not wait for anyone. */
  taken(tokens: number): void;
  /** The text is as long as may be kept; `ended` follows. */
  tooLong(): void;
  ended(answer: TextAnswer): void;
  refused(refusal: TextRefused): void;
}

/** How far a follower has come. */
export interface AnswerPosition {
  /** UTF-16 units of the text. */
  readonly text: number;
  readonly tokens: number;
}

/** The answer of a ONE_SHOT run while it is made: kept from its first token on, for whoever follows it. */
export class OneShotAnswer implements AnswerReader {
  #text = '';
  #bytes = 0;
  #isTooLong = false;
  readonly #tokenIds: number[] = [];
  #end: TextDone | undefined;
  #isOver = false;
  #followers: (() => void)[] = [];

  constructor(private readonly listener: OneShotListener) {}

  /** Nothing follows: it was answered, refused, or given up. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Undefined until the answer has ended by itself. */
  get end(): TextDone | undefined {
    return this.#end;
  }

  delta({ text, tokenIds }: TextDelta): void {
    if (this.#isTooLong) return;
    const bytes = Buffer.byteLength(text);
    if (this.#bytes + bytes > limits.answerTextBytes) {
      this.#isTooLong = true;
      this.listener.tooLong();
      return;
    }
    this.#text += text;
    this.#bytes += bytes;
    this.#tokenIds.push(...tokenIds);
    this.listener.taken(this.#tokenIds.length);
    this.#wake();
  }

  done(done: TextDone): void {
    this.#end = { ...done, requestId: '' };
    this.giveUp();
    this.listener.ended({ text: this.#text, tokenIds: this.#tokenIds, done: this.#end });
  }

  refused(refusal: TextRefused): void {
    this.giveUp();
    this.listener.refused(refusal);
  }

  /** Nothing more will be known here. */
  giveUp(): void {
    this.#isOver = true;
    this.#wake();
  }

  /** What has come since a position. */
  since({ text, tokens }: AnswerPosition): Pick<TextDelta, 'text' | 'tokenIds'> {
    return { text: this.#text.slice(text), tokenIds: this.#tokenIds.slice(tokens) };
  }

  /** Resolves when there is more, or nothing follows. */
  changed(): Promise<void> {
    return new Promise((resolve) => this.#followers.push(resolve));
  }

  #wake(): void {
    const followers = this.#followers;
    this.#followers = [];
    for (const wake of followers) wake();
  }
}
