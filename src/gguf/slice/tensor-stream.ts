import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { limits } from '../../core/limits.js';
import type { ModelTensor } from '../open-model.js';

export interface TensorStreamOptions {
  /** Called with the bytes of each piece that was read. */
  readonly onBytes?: ((bytes: number) => void) | undefined;
  /** Asked before each piece; true ends the stream with `StreamAborted`. */
  readonly signal?: { readonly aborted: boolean } | undefined;
}

/** The stream was ended by its signal. */
export class StreamAborted extends Error {}

/** The model's file is shorter than its header said. */
export class TensorTruncated extends Error {}

/** Reads the tensors of a list once, in the list's order, `limits.loadChunkBytes` at a time, and digests all their bytes. */
export class TensorStream {
  readonly #hash = createHash('sha256');
  readonly #chunk = Buffer.allocUnsafe(limits.loadChunkBytes);
  #next = 0;
  #file: { path: string; handle: FileHandle } | undefined;

  constructor(
    readonly tensors: readonly ModelTensor[],
    readonly options: TensorStreamOptions = {},
  ) {}

  /** The bytes of `tensor`, after reading and digesting all that stand before it. Pieces are valid until the next one. */
  async *upTo(tensor: ModelTensor): AsyncGenerator<Uint8Array> {
    while (this.tensors[this.#next] !== tensor) await this.#skip();
    yield* this.#read(this.#take());
  }

  /** Reads what is left. Gives the SHA-256 of all bytes as 64 hexadecimal digits. */
  async finish(): Promise<string> {
    while (this.#next < this.tensors.length) await this.#skip();
    return this.#hash.digest('hex');
  }

  async close(): Promise<void> {
    await this.#file?.handle.close();
    this.#file = undefined;
  }

  async #skip(): Promise<void> {
    for await (const _ of this.#read(this.#take()));
  }

  #take(): ModelTensor {
    const tensor = this.tensors[this.#next];
    if (tensor === undefined) throw new Error('a tensor was asked for out of order');
    this.#next += 1;
    return tensor;
  }

  async *#read(tensor: ModelTensor): AsyncGenerator<Uint8Array> {
    const handle = await this.#open(tensor.path);
    for (let done = 0; done < tensor.bytes; ) {
      if (this.options.signal?.aborted) throw new StreamAborted();
      const wanted = Math.min(this.#chunk.length, tensor.bytes - done);
      const { bytesRead } = await handle.read(this.#chunk, 0, wanted, tensor.offset + done);
      if (bytesRead === 0) throw new TensorTruncated(truncated(tensor, done));
      const bytes = this.#chunk.subarray(0, bytesRead);
      this.#hash.update(bytes);
      done += bytesRead;
      this.options.onBytes?.(bytesRead);
      yield bytes;
    }
  }

  async #open(path: string): Promise<FileHandle> {
    if (this.#file?.path === path) return this.#file.handle;
    await this.close();
    this.#file = { path, handle: await open(path, 'r') };
    return this.#file.handle;
  }
}

function truncated(tensor: ModelTensor, done: number): string {
  return (
    `${tensor.path} ends inside tensor ${tensor.name}, after ${done} of its ${tensor.bytes} bytes: ` +
    'it changed since its header was read; copy the file again'
  );
}
