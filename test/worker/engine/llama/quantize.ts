import type { LlamaLibrary } from '../../../../src/worker/engine/llama/llama-library.js';
import { findLlamaPackage } from '../../../../src/worker/engine/llama/llama-package.js';

/** Ids of llama.cpp's file types. */
export const fileTypes = { F16: 1, Q4_0: 2, Q4_1: 3, Q8_0: 7, Q4_K_M: 15, Q6_K: 18, BF16: 32 } as const;

/** Writes a model in another format, as llama.cpp's own tool does. */
export function quantize({ koffi }: LlamaLibrary, from: string, to: string, format: keyof typeof fileTypes): void {
  const found = findLlamaPackage();
  if (found.kind === 'refused') throw new Error(found.message);
  const llama = koffi.load(found.libraries.llama);
  const params = koffi.struct({
    nthread: 'int32',
    ftype: 'int32',
    output_tensor_type: 'int32',
    token_embedding_type: 'int32',
    allow_requantize: 'bool',
    quantize_output_tensor: 'bool',
    only_copy: 'bool',
    pure: 'bool',
    keep_split: 'bool',
    dry_run: 'bool',
    imatrix: 'void*',
    kv_overrides: 'void*',
    tt_overrides: 'void*',
    prune_layers: 'void*',
    max_buf_size: 'size_t',
  });
  const defaults = llama.func('llama_model_quantize_default_params', params, [])();
  const memory = koffi.alloc(params, 1);
  koffi.encode(memory, params, { ...defaults, nthread: 1, ftype: fileTypes[format] });
  const code = llama.func('llama_model_quantize', 'uint32', ['str', 'str', 'void*'])(from, to, memory);
  koffi.free(memory);
  if (code !== 0) throw new Error(`${from} was not quantized to ${format}: ${code}`);
}
