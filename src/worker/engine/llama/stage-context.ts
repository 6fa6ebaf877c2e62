import { HiddenTap } from './hidden-tap.js';
import type { LlamaLibrary } from './llama-library.js';
import { StageBatch } from './stage-batch.js';
import type { ContextParams, Pointer } from './structs.js';
import { sleepingThreadPool, type ThreadPool } from './thread-pool.js';

export interface StageContextSettings {
  /** What comes out: the rows of the last layer, or the logits of the last row. */
  readonly output: 'rows' | 'logits';
  /** Tokens that one sequence may hold. */
  readonly contextLength: number;
  /** Sequences held at once. */
  readonly sequences: number;
  /** Rows of one run at most. */
  readonly microBatch: number;
  readonly flashAttention: boolean;
  readonly threads: number;
  readonly positionsPerRow: 1 | 4;
}

/** ggml's tensor type F16. */
const F16 = 1;
/** The library rounds the room of a sequence up to this. */
const CONTEXT_STEP = 256;

/**
 * A loaded model with room for the KV of some sequences. Takes rows, gives rows or logits. Owns the model.
 * Everything blocks; nothing here is called from two threads.
 */
export class StageContext {
  /** Elements of a row. */
  readonly width: number;
  readonly vocabularySize: number;
  /** Bytes for intermediate results. They are not in memory before a run needs them: a long prompt needs all. */
  readonly computeBytes: number;
  readonly #library: LlamaLibrary;
  readonly #context: Pointer;
  readonly #memory: Pointer;
  readonly #tap: HiddenTap | undefined;
  readonly #pool: ThreadPool;
  readonly #batch: StageBatch;
  /** Where the library keeps them, most often at the same place as before. */
  #logits: { readonly pointer: Pointer; readonly values: Float32Array } | undefined;

  /** Throws when there is no memory for the context; the model is freed then. */
  constructor(
    library: LlamaLibrary,
    readonly model: Pointer,
    settings: StageContextSettings,
  ) {
    const { api } = library;
    this.#library = library;
    this.width = api.modelWidth(model);
    this.vocabularySize = api.vocabularySize(api.vocabulary(model));
    this.#tap = settings.output === 'rows' ? new HiddenTap(library, api.modelLayers(model) - 1) : undefined;
    const params = contextParams(api.defaultContextParams(), settings, this.#tap?.callback ?? null);
    const opened = library.log.listen(() => api.openContext(model, params));
    const { result: context, complaints } = opened;
    if (context === null) {
      this.#tap?.free();
      api.freeModel(model);
      throw new Error(`no room for ${settings.sequences} x ${settings.contextLength} tokens of context: ${complaints}`);
    }
    this.#context = context;
    this.computeBytes = opened.computeBytes;
    this.#memory = api.memory(context);
    this.#pool = sleepingThreadPool(library, settings.threads);
    api.attachThreadPool(context, this.#pool.pointer, this.#pool.pointer);
    this.#batch = new StageBatch(library, settings.microBatch, this.width, settings.positionsPerRow);
  }

  /**
   * Runs rows of one sequence from `position` on. Gives as many rows in new memory, or the logits that follow the last
   * one in the library's own, which the next run writes to. Throws when the library fails; what the sequence then holds
   * from `position` on is for the caller to drop.
   */
  run(sequence: number, position: number, rows: Float32Array): Float32Array {
    const { api } = this.#library;
    const batch = this.#batch.fill(sequence, position, rows, this.#tap === undefined ? 'last' : 'all');
    this.#tap?.expect(batch.n_tokens);
    const code = api.decode(this.#context, batch);
    if (code !== 0) {
      this.#tap?.discard();
      throw new Error(code === 1 ? 'its KV cache has no room for the rows' : `llama_decode gave ${code}`);
    }
    if (this.#tap !== undefined) return this.#tap.rows(rows.length);
    return this.#logitsOfLast();
  }

  /** A view for each token would be garbage that V8 takes for as much memory as the logits are, and collects all the time. */
  #logitsOfLast(): Float32Array {
    const { api, koffi } = this.#library;
    const pointer = api.logits(this.#context, -1);
    if (pointer === null) throw new Error('llama.cpp gave no logits');
    const known = this.#logits;
    if (known !== undefined && known.pointer === pointer) return known.values;
    const values = new Float32Array(koffi.view(pointer, this.vocabularySize * 4));
    this.#logits = { pointer, values };
    return values;
  }

  /** Drops a sequence's positions from `position` on. False when the architecture cannot, and nothing was dropped. */
  truncate(sequence: number, position: number): boolean {
    return this.#library.api.dropPositions(this.#memory, sequence, position, -1);
  }

  free(): void {
    const { api } = this.#library;
    api.freeContext(this.#context);
    this.#pool.free();
    this.#batch.free();
    this.#tap?.free();
    api.freeModel(this.model);
  }
}

function contextParams(defaults: ContextParams, settings: StageContextSettings, callback: Pointer): ContextParams {
  const { contextLength, sequences, microBatch, threads } = settings;
  return {
    ...defaults,
    n_ctx: Math.ceil(contextLength / CONTEXT_STEP) * CONTEXT_STEP * sequences,
    n_seq_max: sequences,
    // A run is never more than one micro-batch, so the library never cuts it anew.
    n_batch: microBatch,
    n_ubatch: microBatch,
    n_outputs_max: settings.output === 'logits' ? sequences : microBatch,
    n_threads: threads,
    n_threads_batch: threads,
    flash_attn_type: settings.flashAttention ? 1 : 0,
    type_k: F16,
    type_v: F16,
    // A room for each sequence: what another conversation holds then changes no bit of this one.
    kv_unified: false,
    cb_eval: callback,
  };
}
