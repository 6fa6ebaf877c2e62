import type { TextDone } from '../../../gen/stageplane/v1/token_endpoint.js';

type FinishReason = 'stop' | 'length' | null;

/** What every object of one answer says. */
export interface AnswerNames {
  /** Such as `chatcmpl-...`. */
  readonly id: string;
  /** Seconds since 1970. */
  readonly created: number;
  readonly model: string;
  readonly systemFingerprint: string;
}

/** How one of OpenAI's two endpoints words an answer. */
export interface CompletionShape {
  readonly idPrefix: string;
  readonly object: string;
  readonly chunkObject: string;
  choice(text: string, finishReason: FinishReason): object;
  /** Before the first text; absent when nothing goes there. */
  readonly opening?: object;
  chunkChoice(text: string, finishReason: FinishReason): object;
}

export const chatShape: CompletionShape = {
  idPrefix: 'chatcmpl-',
  object: 'chat.completion',
  chunkObject: 'chat.completion.chunk',
  choice: (content, finishReason) => ({
    index: 0,
    message: { role: 'assistant', content, refusal: null },
    logprobs: null,
    finish_reason: finishReason,
  }),
  opening: chatChunk({ role: 'assistant', content: '', refusal: null }, null),
  chunkChoice: (content, finishReason) => chatChunk(content === '' ? {} : { content }, finishReason),
};

export const textShape: CompletionShape = {
  idPrefix: 'cmpl-',
  object: 'text_completion',
  chunkObject: 'text_completion',
  choice: textChoice,
  chunkChoice: textChoice,
};

function chatChunk(delta: object, finishReason: FinishReason): object {
  return { index: 0, delta, logprobs: null, finish_reason: finishReason };
}

function textChoice(text: string, finishReason: FinishReason): object {
  return { index: 0, text, logprobs: null, finish_reason: finishReason };
}

export function namesOf({ id, created, model, systemFingerprint }: AnswerNames, object: string): object {
  return { id, object, created, model, system_fingerprint: systemFingerprint };
}

export function usageOf({ promptTokens, generatedTokens, reusedTokens }: TextDone): object {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: generatedTokens,
    total_tokens: promptTokens + generatedTokens,
    prompt_tokens_details: { cached_tokens: reusedTokens },
  };
}
