import { TokenizerKind } from '../../gen/stageplane/v1/token_endpoint.js';
import type { Tokenizer } from './tokenizer.js';

const BYTE_VALUES = 256;
/** NUL ends a text, as it does in C, and occurs in none. */
const END_TOKEN = 0;

/** One token per byte of UTF-8. An engine with a larger vocabulary says bytes too: an id counts modulo 256. */
export const byteTokenizer: Tokenizer = {
  kind: TokenizerKind.TOKENIZER_KIND_BYTES,
  endTokens: new Set([END_TOKEN]),
  chat: undefined,
  tokenize: (text) => [...Buffer.from(text)],
  piece: (id) => Uint8Array.of(id % BYTE_VALUES),
  close: () => {},
};
