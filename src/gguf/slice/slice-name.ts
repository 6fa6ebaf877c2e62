import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import type { SliceSpec } from './write-slice.js';

/** Grows whenever `writeSlice` itself would write another file. */
const WRITER_VERSION = 1;

const KEY_CHARACTERS = 32;
const name = /^(?<key>[0-9a-f]{32})-(?<digest>[0-9a-f]{64})\.gguf$/;

/**
 * What a slice is made of, as 32 hexadecimal digits. The model's digest covers its header and its size, so the times of
 * its files are taken in as well: weights that were replaced in place must not meet an old slice.
 */
export async function sliceKey({ model, range, recipe }: SliceSpec): Promise<string> {
  const paths = [...new Set(model.tensors.map(({ path }) => path))];
  const changed = await Promise.all(paths.map(async (path) => (await stat(path)).mtimeMs));
  const { architecture, version } = recipe;
  const parts = [WRITER_VERSION, model.digest, changed, range.start, range.end, architecture, version];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, KEY_CHARACTERS);
}

/** The name says by itself which bytes of the model are in the file: nothing else has to be kept beside it. */
export function sliceName(key: string, bytesDigest: string): string {
  return `${key}-${bytesDigest}.gguf`;
}

/** The digest in the name of a slice of that key, or undefined for any other name. */
export function digestInName(file: string, key: string): string | undefined {
  const parts = name.exec(file)?.groups;
  return parts?.key === key ? parts.digest : undefined;
}

export function isSliceName(file: string): boolean {
  return name.test(file);
}
