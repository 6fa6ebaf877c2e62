import {
  type TextDelta,
  type TextDone,
  TextDoneReason,
  type TextRefused,
} from '../../gen/stageplane/v1/token_endpoint.js';
import type { AnswerReader } from '../token-endpoint/open-answers.js';

export interface ReplayedAnswerListener {
  /** So many tokens were taken in all. */
  taken(tokens: number): void;
  /** Once; not when the endpoint was lost before the end. */
  ended(): void;
}

/** An answer as it comes, which remembers where in the text each token ended. */
export class ReplayedAnswer implements AnswerReader {
  readonly tokenIds: number[] = [];
  /** Characters of the text after each token. */
  readonly textEnds: number[] = [];
  text = '';
  /** Why the prompt was not taken, as a sentence. */
  refusal: string | undefined;

  constructor(private readonly listener: ReplayedAnswerListener) {}

  delta({ text, tokenIds }: TextDelta): void {
    this.text += text;
    for (const token of tokenIds) {
      this.tokenIds.push(token);
      this.textEnds.push(this.text.length);
    }
    this.listener.taken(this.tokenIds.length);
  }

  done({ reason }: TextDone): void {
    if (reason !== TextDoneReason.TEXT_DONE_REASON_UNAVAILABLE) this.listener.ended();
  }

  refused({ message }: TextRefused): void {
    this.refusal = message;
    this.listener.ended();
  }
}
