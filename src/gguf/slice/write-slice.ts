import { limits } from '../../core/limits.js';
import { tensorBytes } from '../../core/tensors/tensor-type.js';
import { padded } from '../alignment.js';
import { encodeHeader } from '../encode-header.js';
import { type GgufModel, openModel } from '../open-model.js';
import { writeGguf } from '../write-gguf.js';
import { sliceHeader } from './slice-header.js';
import type { SliceRange } from './slice-range.js';
import type { SliceRecipe } from './slice-recipe.js';
import { type SliceTensor, sliceTensors } from './slice-tensors.js';
import { TensorStream, type TensorStreamOptions } from './tensor-stream.js';

/** Which slice of which model. */
export interface SliceSpec {
  /** From `openForSlices`. */
  readonly model: GgufModel;
  readonly range: SliceRange;
  readonly recipe: SliceRecipe;
}

/** Opens a model with what the header of a slice needs: all arrays but the tokenizer's. */
export function openForSlices(path: string): ReturnType<typeof openModel> {
  return openModel(path, { keep: keptForSlices });
}

/** The keys whose arrays a slice's header needs. */
export function keptForSlices(key: string): boolean {
  return !key.startsWith('tokenizer.');
}

/** Bytes that the slice will take on the disk. */
export function sliceBytes(spec: SliceSpec): number {
  const file = layOut(spec);
  return file.tensors.reduce(
    (sum, tensor) => sum + padded(storedBytes(tensor), file.alignment),
    encodeHeader(file).length,
  );
}

/** Bytes of the model that the stage reads, whether it stores them or looks them up in the model. */
export function sliceReadBytes({ model, range, recipe }: SliceSpec): number {
  return sliceTensors(model, range, recipe).read.reduce((sum, { bytes }) => sum + bytes, 0);
}

/**
 * Writes the stage's part of a model as a GGUF file of its own, which appears under `path` only when it is whole. Gives
 * the SHA-256 of the model's bytes that were read, in the order of its files. Rejects with `StreamAborted`, with
 * `TensorTruncated`, and when the disk does.
 */
export async function writeSlice(path: string, spec: SliceSpec, options: TensorStreamOptions = {}): Promise<string> {
  const file = layOut(spec);
  const stream = new TensorStream(file.read, options);
  try {
    const tensors = file.tensors.map((tensor) => ({
      ...tensor,
      data: () => (tensor.source === undefined ? zeros(storedBytes(tensor)) : stream.upTo(tensor.source)),
    }));
    await writeGguf(path, { ...file, tensors });
    return await stream.finish();
  } finally {
    await stream.close();
  }
}

function layOut({ model, range, recipe }: SliceSpec) {
  const { stored, read, vocabularyRows } = sliceTensors(model, range, recipe);
  const alignment = model.metadata.integer('general.alignment', 1, 2 ** 31) ?? 32;
  return { alignment, metadata: sliceHeader(model, range, recipe, vocabularyRows), tensors: stored, read };
}

function* zeros(bytes: number): Generator<Uint8Array> {
  const piece = new Uint8Array(Math.min(bytes, limits.loadChunkBytes));
  for (let left = bytes; left > 0; left -= piece.length) yield piece.subarray(0, Math.min(left, piece.length));
}

function storedBytes({ type, dims }: SliceTensor): number {
  return Number(tensorBytes(type, dims));
}
