import { limits } from '../../core/limits.js';

/** The settings that an engine needs beside the file and the layers. */
export interface Recipe {
  /** As in `Device.device_id`. */
  readonly device: string;
  /** Tokens that one session may hold. */
  readonly contextLength: number;
  /** Sessions held at once. */
  readonly sessions: number;
  /** Rows of one micro-batch at most. */
  readonly microBatch: number;
  readonly kvCacheType: 'F16' | 'Q8_0' | 'Q4_0';
  readonly flashAttention: boolean;
  readonly threads: number;
  readonly fidelity: 'FAST' | 'EXACT';
  /** Seed of the sampler. */
  readonly seed: bigint;
  /** Thousandths; 0 is greedy. Only the last stage samples. */
  readonly temperatureMillis: number;
  /** Candidates kept before sampling; 0 keeps all. */
  readonly topK: number;
}

/** The defaults of `StageSettings` in provision.proto. */
const defaults: Recipe = {
  device: 'cpu',
  contextLength: limits.defaultContextTokens,
  sessions: 1,
  microBatch: limits.defaultMicroBatchRows,
  kvCacheType: 'F16',
  flashAttention: false,
  threads: 1,
  fidelity: 'FAST',
  seed: 0n,
  temperatureMillis: 0,
  topK: 0,
};

export function completeRecipe(recipe: Partial<Recipe>): Recipe {
  return { ...defaults, ...recipe };
}
