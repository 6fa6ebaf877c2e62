import type { LlamaLibrary } from './llama-library.js';
import type { ModelParams, Pointer } from './structs.js';

export interface LoadModelOptions {
  /** Only the tokenizer, no tensors. Default false. */
  readonly vocabularyOnly?: boolean;
  /** Asked between two tensors; true ends the load. */
  readonly signal?: { readonly aborted: boolean } | undefined;
}

export type LoadedModel =
  | { readonly kind: 'loaded'; readonly model: Pointer }
  | { readonly kind: 'aborted' }
  | { readonly kind: 'failed'; readonly message: string };

/** Loads a GGUF file with the library, into RAM. */
export function loadModel(library: LlamaLibrary, path: string, options: LoadModelOptions = {}): LoadedModel {
  const { koffi, api, log } = library;
  const type = koffi.proto('bool', ['float', 'void*']);
  const goOn = koffi.register(() => !options.signal?.aborted, koffi.pointer(type));
  const params: ModelParams = {
    ...api.defaultModelParams(),
    n_gpu_layers: 0,
    vocab_only: options.vocabularyOnly ?? false,
    progress_callback: goOn,
  };
  try {
    const { result, complaints } = log.listen(() => api.loadModel(path, params));
    if (result !== null) return { kind: 'loaded', model: result };
    if (options.signal?.aborted) return { kind: 'aborted' };
    return { kind: 'failed', message: `llama.cpp cannot load ${path}: ${complaints}` };
  } finally {
    koffi.unregister(goOn);
  }
}
