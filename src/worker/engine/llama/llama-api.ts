import type koffi from 'koffi';
import type { LlamaPackage } from './llama-package.js';
import type { Batch, ContextParams, ModelParams, Pointer, Structs, ThreadPoolParams } from './structs.js';

type Koffi = typeof koffi;

/** The functions of llama.h and ggml-backend.h that the engine calls, by what they do. All of them block. */
export interface LlamaApi {
  setLog(callback: Pointer, data: null): void;
  loadBackends(folder: string): void;
  backendDevices(): number | bigint;
  backendDevice(index: number): Pointer;
  backendOf(device: Pointer): Pointer;
  procAddress(backend: Pointer, name: string): Pointer | null;
  version(): string;
  maxSequences(): number | bigint;

  defaultModelParams(): ModelParams;
  loadModel(path: string, params: ModelParams): Pointer | null;
  freeModel(model: Pointer): void;
  modelWidth(model: Pointer): number;
  modelLayers(model: Pointer): number;

  defaultContextParams(): ContextParams;
  openContext(model: Pointer, params: ContextParams): Pointer | null;
  freeContext(context: Pointer): void;
  memory(context: Pointer): Pointer;
  /** Drops the positions `[from, to)` of a sequence; negative is open-ended. False when the architecture cannot. */
  dropPositions(memory: Pointer, sequence: number, from: number, to: number): boolean;

  makeBatch(rows: number, width: number, sequencesPerRow: number): Batch;
  freeBatch(batch: Batch): void;
  /** 0 done, 1 no room for the rows, negative failed. */
  decode(context: Pointer, batch: Batch): number;
  logits(context: Pointer, row: number): Pointer | null;

  tensorName(tensor: Pointer): string;
  tensorBytes(tensor: Pointer): number | bigint;
  readTensor(tensor: Pointer, into: Float32Array, offset: number, bytes: number): void;
  typeTraits(type: number): Pointer | null;

  defaultThreadPoolParams(threads: number): ThreadPoolParams;
  attachThreadPool(context: Pointer, pool: Pointer, batchPool: Pointer): void;

  vocabulary(model: Pointer): Pointer;
  vocabularySize(vocabulary: Pointer): number;
  /** Token ids, or minus the number that there would be when `room` is too small. */
  tokenize(
    vocabulary: Pointer,
    text: Uint8Array,
    bytes: number,
    into: Int32Array,
    room: number,
    addSpecial: boolean,
    parseSpecial: boolean,
  ): number;
  /** Bytes written, or minus those that are needed. */
  tokenPiece(
    vocabulary: Pointer,
    token: number,
    into: Uint8Array,
    room: number,
    strip: number,
    special: boolean,
  ): number;
  endsGeneration(vocabulary: Pointer, token: number): boolean;
  /** -1 when there is none. */
  beginToken(vocabulary: Pointer): number;
  /** -1 when there is none. */
  endToken(vocabulary: Pointer): number;
  addsBeginToken(vocabulary: Pointer): boolean;
  chatTemplate(model: Pointer, name: string | null): string | null;
}

/** Opens the three libraries, lowest first, and binds their functions. Throws when one does not load. */
export function bindLlama(koffi: Koffi, found: LlamaPackage, structs: Structs): LlamaApi {
  const base = koffi.load(found.libraries.ggmlBase);
  const ggml = koffi.load(found.libraries.ggml);
  const llama = koffi.load(found.libraries.llama);
  const { modelParams, contextParams, batch, threadPoolParams } = structs;
  const api = {
    setLog: llama.func('llama_log_set', 'void', ['void*', 'void*']),
    loadBackends: ggml.func('ggml_backend_load_all_from_path', 'void', ['str']),
    backendDevices: ggml.func('ggml_backend_dev_count', 'size_t', []),
    backendDevice: ggml.func('ggml_backend_dev_get', 'void*', ['size_t']),
    backendOf: base.func('ggml_backend_dev_backend_reg', 'void*', ['void*']),
    procAddress: base.func('ggml_backend_reg_get_proc_address', 'void*', ['void*', 'str']),
    version: llama.func('llama_version', 'str', []),
    maxSequences: llama.func('llama_max_parallel_sequences', 'size_t', []),

    defaultModelParams: llama.func('llama_model_default_params', modelParams, []),
    loadModel: llama.func('llama_model_load_from_file', 'void*', ['str', modelParams]),
    freeModel: llama.func('llama_model_free', 'void', ['void*']),
    modelWidth: llama.func('llama_model_n_embd', 'int32', ['void*']),
    modelLayers: llama.func('llama_model_n_layer', 'int32', ['void*']),

    defaultContextParams: llama.func('llama_context_default_params', contextParams, []),
    openContext: llama.func('llama_init_from_model', 'void*', ['void*', contextParams]),
    freeContext: llama.func('llama_free', 'void', ['void*']),
    memory: llama.func('llama_get_memory', 'void*', ['void*']),
    dropPositions: llama.func('llama_memory_seq_rm', 'bool', ['void*', 'int32', 'int32', 'int32']),

    makeBatch: llama.func('llama_batch_init', batch, ['int32', 'int32', 'int32']),
    freeBatch: llama.func('llama_batch_free', 'void', [batch]),
    decode: llama.func('llama_decode', 'int32', ['void*', batch]),
    logits: llama.func('llama_get_logits_ith', 'void*', ['void*', 'int32']),

    tensorName: base.func('ggml_get_name', 'str', ['void*']),
    tensorBytes: base.func('ggml_nbytes', 'size_t', ['void*']),
    readTensor: base.func('ggml_backend_tensor_get', 'void', ['void*', 'void*', 'size_t', 'size_t']),
    typeTraits: base.func('ggml_get_type_traits', 'void*', ['int32']),

    defaultThreadPoolParams: base.func('ggml_threadpool_params_default', threadPoolParams, ['int']),
    attachThreadPool: llama.func('llama_attach_threadpool', 'void', ['void*', 'void*', 'void*']),

    vocabulary: llama.func('llama_model_get_vocab', 'void*', ['void*']),
    vocabularySize: llama.func('llama_vocab_n_tokens', 'int32', ['void*']),
    tokenize: llama.func('llama_tokenize', 'int32', ['void*', 'void*', 'int32', 'void*', 'int32', 'bool', 'bool']),
    tokenPiece: llama.func('llama_token_to_piece', 'int32', ['void*', 'int32', 'void*', 'int32', 'int32', 'bool']),
    endsGeneration: llama.func('llama_vocab_is_eog', 'bool', ['void*', 'int32']),
    beginToken: llama.func('llama_vocab_bos', 'int32', ['void*']),
    endToken: llama.func('llama_vocab_eos', 'int32', ['void*']),
    addsBeginToken: llama.func('llama_vocab_get_add_bos', 'bool', ['void*']),
    chatTemplate: llama.func('llama_model_chat_template', 'str', ['void*', 'str']),
  };
  return api as unknown as LlamaApi;
}
