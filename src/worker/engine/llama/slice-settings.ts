import { homedir } from 'node:os';
import { join } from 'node:path';
import { limits } from '../../../core/limits.js';
import type { SliceCacheOptions } from '../../../gguf/slice/slice-cache.js';

/** Set by the agent, which has a data folder; a worker that is started by hand has none. */
export const SLICE_FOLDER = 'STAGEPLANE_WORKER_SLICE_FOLDER';
/** Bytes; default `limits.sliceCacheBytes`. */
export const SLICE_BYTES = 'STAGEPLANE_WORKER_SLICE_BYTES';

/** Where this worker keeps its slices, from its environment. */
export function sliceSettings(environment: NodeJS.ProcessEnv = process.env): SliceCacheOptions {
  const bytes = Number(environment[SLICE_BYTES] || limits.sliceCacheBytes);
  return {
    folder: environment[SLICE_FOLDER] || join(homedir(), '.cache', 'stageplane', 'slices'),
    maxBytes: Number.isSafeInteger(bytes) && bytes >= 0 ? bytes : limits.sliceCacheBytes,
  };
}
