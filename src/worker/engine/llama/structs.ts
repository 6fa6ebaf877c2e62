import type koffi from 'koffi';

type Koffi = typeof koffi;

/*
 * Layouts of llama.h and ggml-cpu.h in exactly the build that `LLAMA_BUILD` names. Every struct here goes by value: a
 * field at a wrong offset would overwrite memory, so `abi-guard.ts` compares them with the library before any use.
 */

/** An address that only the library can follow. */
export type Pointer = unknown;

export interface ModelParams {
  n_gpu_layers: number;
  main_gpu: number;
  progress_callback: Pointer;
  vocab_only: boolean;
  check_tensors: boolean;
  use_extra_bufts: boolean;
}

export interface ContextParams {
  n_ctx: number;
  n_batch: number;
  n_ubatch: number;
  n_seq_max: number;
  /** Rows whose logits are kept at most; 0 is `n_batch`. */
  n_outputs_max: number;
  n_threads: number;
  n_threads_batch: number;
  pooling_type: number;
  /** -1 automatic, 0 off, 1 on. */
  flash_attn_type: number;
  defrag_thold: number;
  cb_eval: Pointer;
  /** ids of ggml's tensor types. */
  type_k: number;
  type_v: number;
  offload_kqv: boolean;
  no_perf: boolean;
  /** Keep all positions of layers with a sliding window: then any of them can be taken back. */
  swa_full: boolean;
  /** One room for the rows of all sequences, or one room each. */
  kv_unified: boolean;
  n_samplers: number | bigint;
}

export interface Batch {
  n_tokens: number;
  token: Pointer;
  embd: Pointer;
  pos: Pointer;
  n_seq_id: Pointer;
  seq_id: Pointer;
  logits: Pointer;
}

export interface ThreadPoolParams {
  n_threads: number;
  /** Rounds of looking for work before a thread sleeps. */
  poll: number;
}

/** Bytes of each struct in the known build. */
export const structBytes = { modelParams: 80, contextParams: 160, batch: 56, threadPoolParams: 528 };

/** Structs without names: a name may be given only once per process, and tests load this file more often. */
export function defineStructs(koffi: Koffi) {
  const modelParams = koffi.struct({
    devices: 'void*',
    tensor_buft_overrides: 'void*',
    n_gpu_layers: 'int32',
    split_mode: 'int32',
    load_mode: 'int32',
    lazy_mode: 'int32',
    main_gpu: 'int32',
    tensor_split: 'void*',
    progress_callback: 'void*',
    progress_callback_user_data: 'void*',
    kv_overrides: 'void*',
    vocab_only: 'bool',
    check_tensors: 'bool',
    use_extra_bufts: 'bool',
    no_host: 'bool',
    no_alloc: 'bool',
    load_mtp: 'bool',
  });
  const contextParams = koffi.struct({
    n_ctx: 'uint32',
    n_batch: 'uint32',
    n_ubatch: 'uint32',
    n_seq_max: 'uint32',
    n_rs_seq: 'uint32',
    n_outputs_max: 'uint32',
    n_outputs_max_per_seq: 'uint32',
    n_threads: 'int32',
    n_threads_batch: 'int32',
    ctx_type: 'int32',
    rope_scaling_type: 'int32',
    pooling_type: 'int32',
    attention_type: 'int32',
    flash_attn_type: 'int32',
    rope_freq_base: 'float',
    rope_freq_scale: 'float',
    yarn_ext_factor: 'float',
    yarn_attn_factor: 'float',
    yarn_beta_fast: 'float',
    yarn_beta_slow: 'float',
    yarn_orig_ctx: 'uint32',
    defrag_thold: 'float',
    cb_eval: 'void*',
    cb_eval_user_data: 'void*',
    type_k: 'int32',
    type_v: 'int32',
    abort_callback: 'void*',
    abort_callback_data: 'void*',
    embeddings: 'bool',
    offload_kqv: 'bool',
    no_perf: 'bool',
    op_offload: 'bool',
    swa_full: 'bool',
    kv_unified: 'bool',
    samplers: 'void*',
    n_samplers: 'size_t',
    ctx_other: 'void*',
  });
  const batch = koffi.struct({
    n_tokens: 'int32',
    token: 'void*',
    embd: 'void*',
    pos: 'void*',
    n_seq_id: 'void*',
    seq_id: 'void*',
    logits: 'void*',
  });
  const threadPoolParams = koffi.struct({
    cpumask: koffi.array('bool', 512),
    n_threads: 'int',
    prio: 'int',
    poll: 'uint32',
    strict_cpu: 'bool',
    paused: 'bool',
  });
  return { modelParams, contextParams, batch, threadPoolParams };
}

export type Structs = ReturnType<typeof defineStructs>;
