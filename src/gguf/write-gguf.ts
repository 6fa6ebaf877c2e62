import { constants } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { tensorBytes } from '../core/tensors/tensor-type.js';
import { padded } from './alignment.js';
import { encodeHeader, type WritableHeader, type WritableTensor } from './encode-header.js';

/** A tensor with its data. */
export interface WritableTensorData extends WritableTensor {
  /** The tensor's bytes in pieces of any size; called once, when its turn comes. */
  data(): AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

/** A whole GGUF file. */
export interface WritableFile extends WritableHeader {
  readonly tensors: readonly WritableTensorData[];
}

/** A link that somebody has put there is not followed. */
const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | (constants.O_NOFOLLOW ?? 0);

/**
 * Writes a GGUF file, one piece of tensor data at a time, and gives its size in bytes. The file appears under its name
 * only when it is whole, and is its owner's alone. Rejects when the disk does, and when a tensor's data is not as long as its type and extents say.
 */
export async function writeGguf(path: string, file: WritableFile): Promise<number> {
  const partial = `${path}.partial`;
  try {
    const handle = await open(partial, flags, 0o600);
    try {
      await handle.write(encodeHeader(file));
      for (const tensor of file.tensors) await writeTensor(handle, tensor, file.alignment);
      const { size } = await handle.stat();
      await handle.close();
      await rename(partial, path);
      return size;
    } finally {
      await handle.close();
    }
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

async function writeTensor(handle: FileHandle, tensor: WritableTensorData, alignment?: number): Promise<void> {
  const expected = Number(tensorBytes(tensor.type, tensor.dims));
  let written = 0;
  for await (const piece of tensor.data()) {
    await handle.write(piece);
    written += piece.length;
  }
  if (written !== expected) throw new Error(`${tensor.name} has ${written} bytes of data, not ${expected}`);
  await handle.write(new Uint8Array(padded(expected, alignment) - expected));
}
