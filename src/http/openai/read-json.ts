import { isUtf8 } from 'node:buffer';
import { HttpError, refusal } from '../http-refusal.js';

/** A body as JSON. What is not UTF-8 is refused: to replace it would answer another prompt than was meant. */
export function readJson(body: Buffer): unknown {
  if (!isUtf8(body)) throw malformed('is not UTF-8: send UTF-8 without a byte order mark');
  try {
    return JSON.parse(body.toString());
  } catch {
    throw malformed('is no JSON: send one object, such as {"model": "...", "messages": [...]}');
  }
}

function malformed(problem: string): HttpError {
  return new HttpError(refusal(400, 'MALFORMED_MESSAGE', `the body ${problem}`));
}
