import { type GenerateText, TextRefusalReason, type TextRefused } from '../../gen/stageplane/v1/token_endpoint.js';
import { limits } from '../core/limits.js';
import type { AnswerBounds } from './check-open.js';
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
  const problem = problemOfText(request.prompt);
  if (problem !== undefined) return refused(TextRefusalReason.TEXT_REFUSAL_REASON_INVALID_PROMPT, problem);
  const asked = request.maxTokens;
  if (bounds.maxTokens > 0 && asked > bounds.maxTokens) {
    const message = `${asked} tokens are asked for, the run was planned for ${bounds.maxTokens}: ask for less, or plan anew`;
    const reason = TextRefusalReason.TEXT_REFUSAL_REASON_MAX_TOKENS_OVER_PLAN;
    return refused(reason, message, asked, bounds.maxTokens);
  }
  const tokens = request.prompt === '' ? [] : tokenizer.tokenize(request.prompt, request.parseSpecial);
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

function problemOfText(prompt: string): string | undefined {
  const bytes = Buffer.byteLength(prompt);
  if (bytes > limits.promptBytes) {
    return `the prompt has ${bytes} bytes, ${limits.promptBytes} at most are taken: shorten it`;
  }
  // JSON can write half of a surrogate pair, which is no character of UTF-8.
  return /\p{Surrogate}/u.test(prompt) ? 'the prompt is not UTF-8: it has half of a surrogate pair' : undefined;
}
