import { TokenizerKind } from '../../gen/stageplane/v1/token_endpoint.js';
import type { Vocabulary } from '../worker/engine/llama/vocabulary.js';
import { ChatTemplate } from './chat-template.js';
import type { Tokenizer } from './tokenizer.js';

/** The tokenizer that a model's file carries, as llama.cpp reads it. */
export function modelTokenizer(vocabulary: Vocabulary): Tokenizer {
  const { chatTemplate: template, beginText, endText } = vocabulary;
  return {
    kind: TokenizerKind.TOKENIZER_KIND_MODEL,
    endTokens: vocabulary.endTokens,
    chat: template === undefined ? undefined : new ChatTemplate({ template, beginText, endText }),
    tokenize: (text, options) => vocabulary.tokenize(text, options),
    // Models may have more rows than their vocabulary has tokens.
    piece: (id) => (id < vocabulary.size ? vocabulary.piece(id) : undefined),
    close: () => vocabulary.close(),
  };
}
