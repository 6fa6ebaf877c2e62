import { limits } from '../../core/limits.js';
import { GREEDY, type SamplingSettings } from './sampling.js';

/**
 * The settings that an engine needs beside the file and the layers. Those of sampling are for answers that bring none of
 * their own; only the last stage samples.
 */
export interface Recipe extends SamplingSettings {
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
  ...GREEDY,
};

export function completeRecipe(recipe: Partial<Recipe>): Recipe {
  return { ...defaults, ...recipe };
}
