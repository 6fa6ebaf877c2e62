import type { AnswerPiece } from './answer.js';
import { type AnswerNames, type CompletionShape, namesOf, usageOf } from './completion-shape.js';

/** An answer in one object; undefined when its client is gone. */
export async function wholeAnswer(
  pieces: AsyncIterable<AnswerPiece>,
  shape: CompletionShape,
  names: AnswerNames,
): Promise<object | undefined> {
  const texts: string[] = [];
  for await (const piece of pieces) {
    if (piece.kind === 'text') texts.push(piece.text);
    else {
      const choices = [shape.choice(texts.join(''), piece.finishReason)];
      return { ...namesOf(names, shape.object), choices, usage: usageOf(piece.done) };
    }
  }
  return undefined;
}
