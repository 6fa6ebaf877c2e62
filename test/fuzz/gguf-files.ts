import { shardPath } from '../../src/core/model/shard-name.js';
import type { OpenSource } from '../../src/gguf/byte-source.js';
import { GgufError } from '../../src/gguf/gguf-error.js';

/** One file of a model: its first bytes, and how many zeros follow. */
export interface FuzzedFile {
  readonly bytes: Buffer;
  /** KiB. */
  readonly zeros: number;
}

const FILE_HEADER = 8;

/** Files as one input: of each the length of its bytes and its KiB of zeros, both u32, and the bytes. */
export function packFiles(files: readonly FuzzedFile[]): Buffer {
  return Buffer.concat(
    files.flatMap(({ bytes, zeros }) => {
      const header = Buffer.alloc(FILE_HEADER);
      header.writeUInt32LE(bytes.length, 0);
      header.writeUInt32LE(zeros, 4);
      return [header, bytes];
    }),
  );
}

/** At most 9 files, whatever the input. */
export function unpackFiles(input: Buffer): FuzzedFile[] {
  const files: FuzzedFile[] = [];
  for (let at = 0; at + FILE_HEADER <= input.length && files.length < 9; ) {
    const end = Math.min(input.length, at + FILE_HEADER + input.readUInt32LE(at));
    files.push({ bytes: input.subarray(at + FILE_HEADER, end), zeros: input.readUInt32LE(at + 4) });
    at = end;
  }
  return files;
}

export interface OpenedFiles {
  /** Of the first file. */
  readonly path: string;
  readonly open: OpenSource;
  /** What is wrong with how the files were read, once the reading is over. */
  readonly misuse: () => string[];
}

/** Files that count what is asked of them, allow nothing outside themselves and must be closed. */
export function openFiles(files: readonly FuzzedFile[]): OpenedFiles {
  const count = files.length;
  const path = (index: number) =>
    count === 1 ? 'fuzz.gguf' : shardPath({ prefix: 'fuzz', number: index + 1, count: count });
  const wrong: string[] = [];
  let unclosed = 0;
  const open: OpenSource = async (name) => {
    const file = files.find((_, index) => path(index) === name);
    if (file === undefined) return { kind: 'refused', error: new GgufError('missing-file', `no file ${name}`) };
    const size = file.bytes.length + file.zeros * 1024;
    let read = 0;
    unclosed += 1;
    const source = {
      name,
      size,
      read: async (offset: number, length: number) => {
        if (offset < 0 || length < 0 || offset + length > size) wrong.push(`a read of ${length} bytes at ${offset}`);
        read += length;
        if (read > size) wrong.push(`${read} bytes read of ${size}`);
        const bytes = new Uint8Array(length);
        bytes.set(file.bytes.subarray(offset, offset + length));
        return bytes;
      },
      close: async () => {
        unclosed -= 1;
      },
    };
    return { kind: 'opened', source };
  };
  return { path: path(0), open, misuse: () => (unclosed === 0 ? wrong : [...wrong, `${unclosed} files left open`]) };
}
