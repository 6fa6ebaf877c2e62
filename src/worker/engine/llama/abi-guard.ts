import type koffi from 'koffi';
import type { LlamaApi } from './llama-api.js';
import { type Structs, structBytes } from './structs.js';

/**
 * Compares what the library gives with what the known build gives: sizes, and the defaults that must come back at the
 * offsets where `structs.ts` has them. A sentence about the first difference, or undefined.
 */
export function layoutFault(sizeOf: typeof koffi.sizeof, structs: Structs, api: LlamaApi): string | undefined {
  for (const name of Object.keys(structBytes) as (keyof typeof structBytes)[]) {
    const bytes = sizeOf(structs[name]);
    if (bytes !== structBytes[name]) return `${name} has ${bytes} bytes here, not ${structBytes[name]}`;
  }
  return (
    firstDifference('model default', api.defaultModelParams(), modelDefaults) ??
    firstDifference('context default', api.defaultContextParams(), contextDefaults) ??
    firstDifference('thread pool default', api.defaultThreadPoolParams(PROBE_THREADS), { n_threads: 3, poll: 50 })
  );
}

const PROBE_THREADS = 3;

/** From the first field to the last, so that one that is new, gone or wider moves some of them. */
const modelDefaults = {
  devices: null,
  n_gpu_layers: -1,
  split_mode: 1,
  load_mode: -1,
  lazy_mode: 1,
  main_gpu: 0,
  progress_callback: null,
  vocab_only: false,
  check_tensors: false,
  use_extra_bufts: true,
  load_mtp: false,
};

const contextDefaults = {
  n_ctx: 512,
  n_batch: 2048,
  n_ubatch: 512,
  n_seq_max: 1,
  n_outputs_max: 0,
  n_outputs_max_per_seq: 1,
  rope_scaling_type: -1,
  pooling_type: -1,
  flash_attn_type: -1,
  yarn_beta_slow: -1,
  defrag_thold: -1,
  cb_eval: null,
  type_k: 1,
  type_v: 1,
  offload_kqv: true,
  no_perf: true,
  op_offload: true,
  swa_full: true,
  kv_unified: false,
  n_samplers: 0,
  ctx_other: null,
};

function firstDifference(what: string, given: object, known: Readonly<Record<string, unknown>>): string | undefined {
  for (const [name, value] of Object.entries(known)) {
    const found = (given as Record<string, unknown>)[name];
    // biome-ignore lint/suspicious/noDoubleEquals: 64-bit fields come as bigint when they are large
    if (found != value) return `${what} ${name} is ${found}, not ${value}`;
  }
  return undefined;
}
