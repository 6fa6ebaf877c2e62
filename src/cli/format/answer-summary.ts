import { type TextDone, TextDoneReason } from '../../../gen/stageplane/v1/token_endpoint.js';
import { escapeControls } from './escape.js';

const endings: Partial<Record<TextDoneReason, string>> = {
  [TextDoneReason.TEXT_DONE_REASON_MAX_TOKENS]: 'as many as were asked for',
  [TextDoneReason.TEXT_DONE_REASON_CONTEXT_FULL]: 'the context is full',
  [TextDoneReason.TEXT_DONE_REASON_STOP_SEQUENCE]: 'it came to a stop text',
  [TextDoneReason.TEXT_DONE_REASON_CANCELLED]: 'cancelled',
  [TextDoneReason.TEXT_DONE_REASON_SLOW_READER]: 'cancelled',
};

/** How an answer went, in one line: `64 tokens (as many as were asked for), 25.7 tokens/s, first token after 0.05 s`. */
export function answerSummary(done: TextDone): string {
  const { generatedTokens, promptTokens, reusedTokens, firstTokenMicros, tokensPerSecondMillis, reason, message } =
    done;
  const ending = [endings[reason], escapeControls(message)].filter(Boolean).join(': ');
  const rate = Number(tokensPerSecondMillis) / 1000;
  return [
    `${generatedTokens} token${generatedTokens === 1 ? '' : 's'}${ending && ` (${ending})`}`,
    ...(rate > 0 ? [`${rate.toFixed(1)} tokens/s`] : []),
    ...(firstTokenMicros > 0n ? [`first token after ${(Number(firstTokenMicros) / 1e6).toFixed(2)} s`] : []),
    `prompt of ${promptTokens}${reusedTokens > 0 ? `, ${reusedTokens} of them known already` : ''}`,
  ].join(', ');
}
