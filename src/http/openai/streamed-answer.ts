import type { ServerSentEvent } from '../event-stream.js';
import type { HttpRefusal } from '../http-refusal.js';
import type { AnswerPiece } from './answer.js';
import { type AnswerNames, type CompletionShape, namesOf, usageOf } from './completion-shape.js';
import { openAiError } from './openai-error.js';

export interface StreamedParts {
  readonly shape: CompletionShape;
  readonly names: AnswerNames;
  readonly includesUsage: boolean;
  readonly refusalOf: (thrown: unknown) => HttpRefusal;
}

/** An answer piece by piece, as OpenAI streams it. One that breaks off ends with its error, and never with `[DONE]`. */
export async function* streamedAnswer(
  pieces: AsyncIterable<AnswerPiece>,
  { shape, names, includesUsage, refusalOf }: StreamedParts,
): AsyncGenerator<ServerSentEvent, void> {
  const head = namesOf(names, shape.chunkObject);
  // Who asks for the usage gets it once, and null until then.
  const chunk = (choices: object[], usage: object | null = null) =>
    dataOf({ ...head, choices, ...(includesUsage && { usage }) });
  try {
    if (shape.opening) yield chunk([shape.opening]);
    for await (const piece of pieces) {
      if (piece.kind === 'text') yield chunk([shape.chunkChoice(piece.text, null)]);
      else {
        yield chunk([shape.chunkChoice('', piece.finishReason)]);
        if (includesUsage) yield chunk([], usageOf(piece.done));
        yield { data: '[DONE]' };
      }
    }
  } catch (thrown) {
    yield dataOf(openAiError(refusalOf(thrown)));
  }
}

function dataOf(value: object): ServerSentEvent {
  return { data: JSON.stringify(value) };
}
