import { quoted } from '../core/quoted.js';
import { GgufError } from './gguf-error.js';

/** Bytes at the front of a file that are enough to recognise it. */
export const FRONT_BYTES = 64;

const asText = new TextDecoder('latin1');

/** What users hand over in place of a GGUF file, by its first bytes. */
const lookalikes: readonly (readonly [starts: RegExp, sentence: string])[] = [
  [/^(tjgg|lmgg|fmgg|algg)/, 'is a GGML file from before GGUF: convert the model anew'],
  [/^PK/, 'is a zip or PyTorch archive: name its GGUF conversion'],
  [/^.{8}\{"/s, 'is a safetensors file: name its GGUF conversion'],
  [/^\s*<(!doctype|html)/i, 'is a web page: the download went wrong, fetch it again'],
];

/** Says what a file is whose first bytes (`front`, up to FRONT_BYTES of them) are not the magic `GGUF`. */
export function foreignFile(name: string, front: Uint8Array): GgufError {
  const text = asText.decode(front);
  if (text === '') return new GgufError('empty-file', `${name} is empty: download it again`);
  if (text.startsWith('version https://git-lfs.github.com/spec/')) {
    return new GgufError(
      'lfs-pointer',
      `${name} is a Git LFS pointer, not the model itself: run \`git lfs pull\` in its repository`,
    );
  }
  if ('GGUF'.startsWith(text)) {
    return new GgufError('truncated', `${name} ends after ${front.length} bytes: download it again`);
  }
  const known = lookalikes.find(([starts]) => starts.test(text));
  if (known !== undefined) return new GgufError('not-gguf', `${name} ${known[1]}`);
  const isText = front.every((byte) => byte >= 0x20 || (byte >= 0x09 && byte <= 0x0d));
  // Whoever named the file may have no business reading it: its text is not quoted.
  const found = isText ? 'is a text file' : `has the magic ${quoted(text.slice(0, 4))}`;
  return new GgufError('not-gguf', `${name} ${found}, where a GGUF file has "GGUF": name a .gguf file`);
}
