import { type FileHandle, open, rename } from 'node:fs/promises';

/**
 * A file of at most `maxBytes`; the older `maxBytes` are beside it under the same name with `.1`. It is made with the
 * first byte. One writer, which waits for each `append`: that is what holds a flooding worker back.
 */
export class RotatingFile {
  #handle: FileHandle | undefined;
  #bytes = 0;

  constructor(
    readonly path: string,
    private readonly maxBytes: number,
  ) {}

  async append(chunk: Uint8Array): Promise<void> {
    for (let start = 0; start < chunk.length; ) {
      if (this.#bytes >= this.maxBytes) await this.#rotate();
      this.#handle ??= await open(this.path, 'w', 0o600);
      const part = chunk.subarray(start, start + this.maxBytes - this.#bytes);
      await this.#handle.writeFile(part);
      this.#bytes += part.length;
      start += part.length;
    }
  }

  async close(): Promise<void> {
    await this.#handle?.close();
    this.#handle = undefined;
  }

  async #rotate(): Promise<void> {
    await this.close();
    await rename(this.path, `${this.path}.1`);
    this.#bytes = 0;
  }
}
