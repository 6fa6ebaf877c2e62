import { isUtf8 } from 'node:buffer';
import { limits } from '../core/limits.js';
import { HttpError, refusal } from './http-refusal.js';

/**
 * A body as JSON. What is not UTF-8 is refused: to replace it would answer another prompt than was meant. So is what is
 * nested deep: JSON.parse takes seconds for it, in which nobody is answered.
 */
export function readJson(body: Buffer): unknown {
  if (!isUtf8(body)) throw malformed('is not UTF-8: send UTF-8 without a byte order mark');
  if (depthOf(body) > limits.jsonDepth) throw malformed(`is nested deeper than ${limits.jsonDepth} levels: send less`);
  try {
    return JSON.parse(body.toString());
  } catch {
    throw malformed('is no JSON: send one object, such as {}');
  }
}

const [QUOTE, BACKSLASH] = [0x22, 0x5c];

/** Of lists and objects in each other, at most; right for JSON, and anything for what is none. */
function depthOf(body: Buffer): number {
  let [depth, most] = [0, 0];
  let isText = false;
  for (let at = 0; at < body.length; at += 1) {
    const byte = body[at]!;
    if (isText && byte === BACKSLASH) at += 1;
    else if (byte === QUOTE) isText = !isText;
    else if (isText) continue;
    // Brackets and braces differ in one bit: [ { open, ] } close.
    else if ((byte & 0xdf) === 0x5b) most = Math.max(most, ++depth);
    else if ((byte & 0xdf) === 0x5d) depth -= 1;
  }
  return most;
}

function malformed(problem: string): HttpError {
  return new HttpError(refusal(400, 'MALFORMED_MESSAGE', `the body ${problem}`));
}
