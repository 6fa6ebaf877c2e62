import type { Random } from '../sim/random.js';
import { CHUNKING_BYTES, withChunking } from './chunks.js';
import { mutateJsonLine } from './json-line.js';
import { mutateBytes } from './mutate-bytes.js';

const MOST_BYTES = 256 * 1024;

/** Up to three changes in a stream of lines, and other cuts. */
export function mutateLines(input: Buffer, random: Random): Buffer {
  let bytes: Buffer = Buffer.from(input.subarray(CHUNKING_BYTES));
  for (let changes = random.int(1, 3); changes > 0; changes--) {
    bytes = random.chance(0.3) ? mutateBytes(bytes, random) : mutateOneLine(bytes, random);
  }
  return withChunking(bytes.subarray(0, MOST_BYTES), random.chance(0.5) ? 0 : random.int(1, 0xffff_ffff));
}

function mutateOneLine(bytes: Buffer, random: Random): Buffer {
  const lines = bytes.toString('latin1').split('\n');
  const at = random.int(0, lines.length - 1);
  switch (random.int(0, 8)) {
    case 0:
      lines.splice(at, 0, random.pick(lines));
      break;
    case 1:
      lines.splice(at, 1);
      break;
    case 2:
      lines[at] = `${lines[at]}${' '.repeat(random.pick([1, 65_535, 65_537]))}`;
      break;
    default:
      // Bytes survive as latin1; what a change adds beyond that becomes UTF-8 here.
      lines[at] = Buffer.from(mutateJsonLine(lines[at]!, random)).toString('latin1');
  }
  return Buffer.from(lines.join('\n'), 'latin1');
}
