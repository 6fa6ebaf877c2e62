import { TokenizerKind } from '../../gen/stageplane/v1/token_endpoint.js';
import type { Vocabulary } from '../worker/engine/llama/vocabulary.js';
import type { Tokenizer } from './tokenizer.js';

/** The tokenizer that a model's file carries, as llama.cpp reads it. */
export function modelTokenizer(vocabulary: Vocabulary): Tokenizer {
  return {
    kind: TokenizerKind.TOKENIZER_KIND_MODEL,
    endTokens: vocabulary.endTokens,
    tokenize: (text, parseSpecial) => vocabulary.tokenize(text, { parseSpecial }),
    // Models may have more rows than their vocabulary has tokens.
    piece: (id) => (id < vocabulary.size ? vocabulary.piece(id) : undefined),
    close: () => vocabulary.close(),
  };
}
