import { constants, type Stats } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { GgufError, type Refused, refusing } from './gguf-error.js';

/** Bytes that can be read by range: a local file today. */
export interface ByteSource {
  /** Path or address, for sentences. */
  readonly name: string;
  /** Bytes in all, 0 to 2^53-1. */
  readonly size: number;
  /**
   * Exactly `length` bytes from `offset` on; the range must lie inside `size`.
   * Rejects with GgufError `unreadable-file`, or `truncated` when the source became shorter than `size`.
   */
  read(offset: number, length: number): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** Opens a source by name; the seam for sources that are no local files. */
export type OpenSource = (name: string) => Promise<{ kind: 'opened'; source: ByteSource } | Refused>;

/**
 * Opens a regular file. A directory, a FIFO, a device, a missing or an unreadable file is refused with a sentence, at
 * once: nothing here waits for a writer at the other end of a pipe.
 */
export const openFileSource: OpenSource = (path) =>
  refusing(async () => {
    try {
      refuseIrregular(path, await stat(path));
      // Between stat and open the name may come to mean a FIFO; O_NONBLOCK keeps even that open from hanging.
      const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
      return { kind: 'opened' as const, source: await sourceOf(path, handle) };
    } catch (error) {
      throw asGgufError(path, error);
    }
  });

async function sourceOf(path: string, handle: FileHandle): Promise<ByteSource> {
  try {
    const stats = await handle.stat();
    refuseIrregular(path, stats);
    return new FileSource(path, stats.size, handle);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

class FileSource implements ByteSource {
  constructor(
    readonly name: string,
    readonly size: number,
    readonly handle: FileHandle,
  ) {}

  async read(offset: number, length: number): Promise<Uint8Array> {
    const bytes = Buffer.allocUnsafe(length);
    for (let filled = 0; filled < length; ) {
      const { bytesRead } = await this.#readSome(bytes.subarray(filled), offset + filled);
      if (bytesRead === 0) throw new GgufError('truncated', `${this.name} became shorter while it was read: try again`);
      filled += bytesRead;
    }
    return bytes;
  }

  #readSome(into: Buffer, offset: number): Promise<{ bytesRead: number }> {
    return this.handle.read(into, 0, into.length, offset).catch((error: unknown) => {
      throw asGgufError(this.name, error);
    });
  }

  close(): Promise<void> {
    return this.handle.close();
  }
}

function refuseIrregular(path: string, stats: Stats): void {
  if (stats.isFile()) return;
  const what = stats.isDirectory()
    ? 'a directory: name the .gguf file in it'
    : `a ${irregularKind(stats)}, not a file: name a .gguf file`;
  throw new GgufError('not-a-file', `${path} is ${what}`);
}

function irregularKind(stats: Stats): string {
  if (stats.isFIFO()) return 'FIFO';
  return stats.isSocket() ? 'socket' : 'device';
}

function asGgufError(path: string, error: unknown): GgufError {
  if (error instanceof GgufError) return error;
  const code = (error as NodeJS.ErrnoException).code ?? String(error);
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return new GgufError('missing-file', `there is no file ${path}: check the path`);
    case 'EACCES':
    case 'EPERM':
      return new GgufError('unreadable-file', `${path} may not be read by this user: check its permissions`);
    default:
      return new GgufError('unreadable-file', `${JSON.stringify(path)} cannot be read (${code}): check path and disk`);
  }
}
