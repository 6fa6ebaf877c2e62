import type { HeldSlice, SliceCache, TakenSlice } from '../../../gguf/slice/slice-cache.js';
import { needsSlice } from '../../../gguf/slice/slice-range.js';
import { sliceTensors } from '../../../gguf/slice/slice-tensors.js';
import { StreamAborted, TensorStream, type TensorStreamOptions } from '../../../gguf/slice/tensor-stream.js';
import { type SliceSpec, sliceReadBytes } from '../../../gguf/slice/write-slice.js';
import type { LoadOptions } from '../load.js';
import { progressReporter } from '../load-progress.js';
import { failure, type StatusCode, type StructuredStatus } from '../status.js';

export type StageFileOutcome =
  | { readonly kind: 'file'; readonly file: HeldSlice }
  /** CANCELLED or FAILED_PRECONDITION. */
  | { readonly kind: 'failed'; readonly status: StructuredStatus };

/** The file that the library loads: a slice from the cache, or the model itself when the stage is all of it. */
export async function stageFile(spec: SliceSpec, cache: SliceCache, options: LoadOptions): Promise<StageFileOutcome> {
  const progress = progressReporter(sliceReadBytes(spec), options);
  const reading = { onBytes: (bytes: number) => progress.add(bytes), signal: options.signal };
  const taken = needsSlice(spec.recipe, spec.model, spec.range)
    ? await cache.take(spec, reading)
    : await wholeFile(spec, reading);
  switch (taken.kind) {
    case 'held':
      progress.end();
      return { kind: 'file', file: taken };
    case 'aborted':
      return failed('CANCELLED', `the load of ${spec.model.path} was ended before it was done`);
    // Memory is what RESOURCE_EXHAUSTED is about.
    case 'no-room':
    case 'failed':
      return failed('FAILED_PRECONDITION', taken.message);
  }
}

/** The library finds the other shards of a split model by itself. */
async function wholeFile(spec: SliceSpec, reading: TensorStreamOptions): Promise<TakenSlice> {
  const stream = new TensorStream(sliceTensors(spec.model, spec.range, spec.recipe).read, reading);
  try {
    const bytesDigest = await stream.finish();
    const bytesRead = sliceReadBytes(spec);
    return { kind: 'held', path: spec.model.path, bytesRead, bytesDigest, reused: true, release: async () => {} };
  } catch (error) {
    if (error instanceof StreamAborted) return { kind: 'aborted' };
    return { kind: 'failed', message: (error as Error).message };
  } finally {
    await stream.close();
  }
}

function failed(code: Exclude<StatusCode, 'OK'>, message: string): StageFileOutcome {
  return { kind: 'failed', status: failure(code, message) };
}
