import type { TokenizerKind } from '../../gen/stageplane/v1/token_endpoint.js';
import type { ChatTemplate } from './chat-template.js';

export interface TokenizeOptions {
  /** Reads "<|im_end|>" and its like as the tokens they name. */
  readonly parseSpecial: boolean;
  /** Adds the tokens that the model wants at the beginning and the end. */
  readonly addSpecial: boolean;
}

/** Text to tokens and back. */
export interface Tokenizer {
  readonly kind: Exclude<TokenizerKind, TokenizerKind.TOKENIZER_KIND_UNSPECIFIED | TokenizerKind.UNRECOGNIZED>;
  /** Every token after which a model says no more. */
  readonly endTokens: ReadonlySet<number>;
  /** Makes one text of the messages of a conversation; undefined when the model does not say how. */
  readonly chat: ChatTemplate | undefined;
  tokenize(text: string, options: TokenizeOptions): number[];
  /** The bytes of a token, which need not be whole characters; undefined when there is no such token. */
  piece(id: number): Uint8Array | undefined;
  close(): void;
}
