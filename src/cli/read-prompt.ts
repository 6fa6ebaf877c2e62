import { isUtf8 } from 'node:buffer';
import { limits } from '../core/limits.js';
import type { Reading } from './config/setting.js';

/** The prompt that was given, or with `-` all that stdin says, of which no more is read than a prompt may have. */
export async function readPrompt(
  given: string,
  stdin: AsyncIterable<Buffer> = process.stdin,
): Promise<Reading<string>> {
  if (given !== '-') return { kind: 'read', value: given };
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stdin) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > limits.promptBytes) return refused(`has over ${limits.promptBytes} bytes; shorten it`);
  }
  const text = Buffer.concat(chunks);
  if (!isUtf8(text)) return refused('is not UTF-8; convert it, for example with iconv');
  return text.length === 0 ? refused('is empty; give it some text') : { kind: 'read', value: text.toString() };
}

function refused(problem: string): Reading<string> {
  return { kind: 'refused', problem: `the prompt on stdin ${problem}` };
}
