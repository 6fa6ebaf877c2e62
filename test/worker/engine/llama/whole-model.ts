import type { LlamaLibrary } from '../../../../src/worker/engine/llama/llama-library.js';
import { loadModel } from '../../../../src/worker/engine/llama/load-model.js';
import { pickToken } from '../../../../src/worker/engine/llama/pick-token.js';
import type { Pointer } from '../../../../src/worker/engine/llama/structs.js';
import { sleepingThreadPool } from '../../../../src/worker/engine/llama/thread-pool.js';
import { GREEDY } from '../../../../src/worker/engine/sampling.js';

export interface WholeModelSettings {
  readonly microBatch: number;
  readonly contextLength: number;
  readonly flashAttention: boolean;
  readonly threads: number;
  /** Take the rows that leave each layer. */
  readonly tapped: boolean;
}

const PLENTY = 1024;

/**
 * The measure of all stages: the model's own file in one context of the library, given token ids, as any program runs
 * it. Shares no code with the stages but the functions of the library.
 */
export class WholeModel {
  /** Rows that left each layer in the last run. */
  readonly layerRows = new Map<number, Float32Array>();
  readonly layers: number;
  readonly #context: Pointer;
  readonly #vocabulary: number;
  readonly #tap: bigint | null;

  constructor(
    readonly library: LlamaLibrary,
    path: string,
    readonly settings: WholeModelSettings,
  ) {
    const { api } = library;
    const loaded = loadModel(library, path);
    if (loaded.kind !== 'loaded') throw new Error(`the whole model does not load: ${JSON.stringify(loaded)}`);
    this.layers = api.modelLayers(loaded.model);
    this.#vocabulary = api.vocabularySize(api.vocabulary(loaded.model));
    this.#tap = settings.tapped ? this.#register() : null;
    const context = api.openContext(loaded.model, {
      ...api.defaultContextParams(),
      n_ctx: settings.contextLength,
      n_batch: PLENTY,
      n_ubatch: settings.microBatch,
      n_threads: settings.threads,
      n_threads_batch: settings.threads,
      flash_attn_type: settings.flashAttention ? 1 : 0,
      cb_eval: this.#tap,
    });
    if (context === null) throw new Error('the whole model has no context');
    this.#context = context;
    const pool = sleepingThreadPool(library, settings.threads);
    api.attachThreadPool(context, pool.pointer, pool.pointer);
  }

  /** Logits that follow the last of `ids`; every row is an output when the layers are tapped. */
  run(ids: readonly number[], position: number): Float32Array {
    const { api, koffi } = this.library;
    this.layerRows.clear();
    const batch = api.makeBatch(ids.length, 0, 1);
    const write = (pointer: Pointer, type: string, values: readonly number[]) =>
      koffi.encode(pointer, koffi.array(type, values.length), values);
    write(batch.token, 'int32', ids);
    write(
      batch.pos,
      'int32',
      ids.map((_, row) => position + row),
    );
    write(
      batch.n_seq_id,
      'int32',
      ids.map(() => 1),
    );
    for (const list of koffi.decode(batch.seq_id, 'void*', ids.length)) write(list, 'int32', [0]);
    write(
      batch.logits,
      'int8',
      ids.map((_, row) => Number(this.settings.tapped || row === ids.length - 1)),
    );
    const code = api.decode(this.#context, { ...batch, n_tokens: ids.length });
    api.freeBatch(batch);
    if (code !== 0) throw new Error(`the whole model gave ${code}`);
    const logits = new Float32Array(koffi.view(api.logits(this.#context, -1), this.#vocabulary * 4));
    return logits.slice();
  }

  #register(): bigint {
    const { koffi, api } = this.library;
    const type = koffi.proto('bool', ['void*', 'bool', 'void*']);
    return koffi.register((tensor: Pointer, asks: boolean) => {
      const layer = /^l_out-(\d+)$/.exec(api.tensorName(tensor))?.[1];
      if (asks) return layer !== undefined;
      const bytes = Number(api.tensorBytes(tensor));
      const rows = new Float32Array(bytes / 4);
      api.readTensor(tensor, rows, 0, bytes);
      const before = this.layerRows.get(Number(layer)) ?? new Float32Array(0);
      this.layerRows.set(Number(layer), Float32Array.from([...before, ...rows]));
      return true;
    }, koffi.pointer(type));
  }
}

/** The tokens that the model says after `prompt` when it always takes the likeliest. */
export function greedyTokens(model: WholeModel, prompt: readonly number[], count: number): number[] {
  const tokens = [pickToken(model.run(prompt, 0), 0, GREEDY)];
  while (tokens.length < count) {
    tokens.push(pickToken(model.run(tokens.slice(-1), prompt.length + tokens.length - 1), 0, GREEDY));
  }
  return tokens;
}
