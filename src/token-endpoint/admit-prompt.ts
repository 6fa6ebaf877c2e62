import { type GenerateText, TextRefusalReason, type TextRefused } from '../../gen/stageplane/v1/token_endpoint.js';
import type { AnswerBounds } from './check-open.js';
import { promptText } from './prompt-text.js';
import type { Tokenizer } from './tokenizer.js';

export type PromptAdmission =
  | {
      readonly kind: 'admitted';
      /** At least one. */
      readonly tokens: readonly number[];
      /** Of the answer; infinite when only the context bounds it. */
      readonly maxTokens: number;
    }
  | { readonly kind: 'refused'; readonly refusal: TextRefused };

/** Makes tokens of a prompt, or says why it cannot be answered. */
export function admitPrompt(request: GenerateText, tokenizer: Tokenizer, bounds: AnswerBounds): PromptAdmission {
  const refused = (reason: TextRefusalReason, message: string, actual = 0, allowed = 0): PromptAdmission => ({
    kind: 'refused',
    refusal: { requestId: request.requestId, reason, message, actual, allowed },
  });
  const asked = request.maxTokens;
  if (bounds.maxTokens > 0 && asked > bounds.maxTokens) {
    const message = `${asked} tokens are asked for, the run was planned for ${bounds.maxTokens}: ask for less, or plan anew`;
    const reason = TextRefusalReason.TEXT_REFUSAL_REASON_MAX_TOKENS_OVER_PLAN;
    return refused(reason, message, asked, bounds.maxTokens);
  }
  const made = promptText(request, tokenizer);
  if (made.kind === 'refused') return refused(made.reason, made.message);
  const tokens = made.text === '' ? [] : tokenizer.tokenize(made.text, made.options);
  if (tokens.length === 0) {
    const message = 'the prompt is empty: there is nothing to answer, so give it some text';
    return refused(TextRefusalReason.TEXT_REFUSAL_REASON_EMPTY_PROMPT, message);
  }
  if (tokens.length > bounds.contextLength) {
    const { contextLength } = bounds;
    const message = `the prompt has ${tokens.length} tokens, the run's context ${contextLength}: shorten the prompt, or plan a longer context_length`;
    return refused(TextRefusalReason.TEXT_REFUSAL_REASON_PROMPT_TOO_LONG, message, tokens.length, contextLength);
  }
  return { kind: 'admitted', tokens, maxTokens: asked || bounds.maxTokens || Number.POSITIVE_INFINITY };
}
