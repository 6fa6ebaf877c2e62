import type { TokenizerKind } from '../../gen/stageplane/v1/token_endpoint.js';

/** Text to tokens and back. */
export interface Tokenizer {
  readonly kind: Exclude<TokenizerKind, TokenizerKind.TOKENIZER_KIND_UNSPECIFIED | TokenizerKind.UNRECOGNIZED>;
  /** Every token after which a model says no more. */
  readonly endTokens: ReadonlySet<number>;
  /** `parseSpecial` reads "<|im_end|>" and its like as the tokens they name. */
  tokenize(text: string, parseSpecial: boolean): number[];
  /** The bytes of a token, which need not be whole characters; undefined when there is no such token. */
  piece(id: number): Uint8Array | undefined;
  close(): void;
}
