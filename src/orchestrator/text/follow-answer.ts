import type { GenerateResponse } from '../../../gen/stageplane/v1/orchestrator_service.js';
import type { TextAnswer, TextDone } from '../../../gen/stageplane/v1/token_endpoint.js';
import { limits } from '../../core/limits.js';
import type { StreamWriter } from '../../grpc/stream-writer.js';
import type { OneShotAnswer } from './one-shot-answer.js';

/** Sends an answer from its beginning and as it comes; gives its end, or undefined when it has none of its own. */
export async function followAnswer(
  answer: OneShotAnswer,
  stream: StreamWriter<GenerateResponse>,
): Promise<TextDone | undefined> {
  const sent = { text: 0, tokens: 0 };
  while (stream.isOpen) {
    const changed = answer.changed();
    const { isOver } = answer;
    const news = answer.since(sent);
    sent.text += news.text.length;
    sent.tokens += news.tokenIds.length;
    await sendPieces(news, stream);
    if (isOver) return answer.end;
    await Promise.race([changed, stream.closed]);
  }
  return undefined;
}

/** Sends a whole answer that was kept. */
export async function replayAnswer(answer: TextAnswer, stream: StreamWriter<GenerateResponse>): Promise<void> {
  await sendPieces(answer, stream);
}

/** A megabyte of text and its tokens is too much for one message. */
async function sendPieces(
  { text, tokenIds }: Pick<TextAnswer, 'text' | 'tokenIds'>,
  stream: StreamWriter<GenerateResponse>,
): Promise<void> {
  const size = limits.replayedTokens;
  const characters = [...text];
  const pieces = Math.max(Math.ceil(tokenIds.length / size), Math.ceil(characters.length / size));
  for (let piece = 0; piece < pieces; piece += 1) {
    const from = piece * size;
    const to = from + size;
    stream.write({ text: characters.slice(from, to).join(''), tokenIds: tokenIds.slice(from, to) });
    await stream.ready();
  }
}
