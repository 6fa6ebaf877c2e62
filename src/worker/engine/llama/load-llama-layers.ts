import { type HeldSlice, SliceCache, type SliceCacheOptions } from '../../../gguf/slice/slice-cache.js';
import { positionOf } from '../../../gguf/slice/slice-range.js';
import type { SliceSpec } from '../../../gguf/slice/write-slice.js';
import type { LoadOptions, LoadRequest } from '../load.js';
import { completeRecipe, type Recipe } from '../recipe.js';
import type { LoadLayers, LoadLayersOutcome } from '../stage-layers.js';
import { failure, type StatusCode } from '../status.js';
import { chooseSlice } from './choose-slice.js';
import { EmbeddingTable } from './embedding-table.js';
import { LlamaLayers } from './llama-layers.js';
import { type LlamaLibrary, openLlamaLibrary } from './llama-library.js';
import { loadModel } from './load-model.js';
import { StageContext } from './stage-context.js';
import { stageFile } from './stage-file.js';
import type { Pointer } from './structs.js';

/** The `LoadLayers` of engine llama.cpp; its slices are kept as `slices` says. */
export function llamaLoader(slices: SliceCacheOptions): LoadLayers {
  const cache = new SliceCache(slices);
  return (request, options) => loadLlamaLayers(request, options, cache);
}

async function loadLlamaLayers(
  request: LoadRequest,
  options: LoadOptions,
  cache: SliceCache,
): Promise<LoadLayersOutcome> {
  const settings = completeRecipe(request.recipe);
  const library = await openLlamaLibrary();
  if (library.kind === 'refused') return failed('FAILED_PRECONDITION', library.message);
  const refused = refusedSetting(settings, library);
  if (refused !== undefined) return failed('UNIMPLEMENTED', refused);
  const chosen = await chooseSlice(request, options);
  if (chosen.kind === 'failed') return chosen;
  const made = await stageFile(chosen.spec, cache, options);
  if (made.kind === 'failed') return made;
  const outcome = loadFile(library, chosen.spec, settings, made.file, options);
  if (outcome.kind === 'failed') await made.file.release();
  return outcome;
}

/** A sentence about the first setting that this engine cannot honour. */
function refusedSetting(settings: Recipe, { api }: LlamaLibrary): string | undefined {
  const { device, kvCacheType, sessions } = settings;
  if (device !== 'cpu') return `engine llama.cpp has no device "${device}" on this node: plan cpu`;
  if (kvCacheType !== 'F16') return `kv_cache_type ${kvCacheType} is not offered by engine llama.cpp: plan F16`;
  const most = Number(api.maxSequences());
  return sessions > most ? `sessions is ${sessions}, but llama.cpp holds ${most} at most: plan fewer` : undefined;
}

/** Blocks while the library loads; `options.signal` is asked between two tensors. */
function loadFile(
  library: LlamaLibrary,
  spec: SliceSpec,
  settings: Recipe,
  file: HeldSlice,
  options: LoadOptions,
): LoadLayersOutcome {
  const loaded = loadModel(library, file.path, { signal: options.signal });
  if (loaded.kind === 'aborted')
    return failed('CANCELLED', `the load of ${spec.model.path} was ended before it was done`);
  if (loaded.kind === 'failed') return failed('FAILED_PRECONDITION', `${spec.model.path}: ${loaded.message}`);
  try {
    return { kind: 'loaded', layers: layersOf(library, loaded.model, spec, settings, file) };
  } catch (error) {
    return failed('RESOURCE_EXHAUSTED', `${spec.model.path}: ${(error as Error).message}`);
  }
}

/** Throws when there is no memory for the context, and when the embedding table is of a type that nobody can look up. */
function layersOf(
  library: LlamaLibrary,
  model: Pointer,
  spec: SliceSpec,
  settings: Recipe,
  file: HeldSlice,
): LlamaLayers {
  const { first, last } = positionOf(spec.range, spec.model);
  const { contextLength, sessions, microBatch, flashAttention, threads } = settings;
  const context = new StageContext(library, model, {
    output: last ? 'logits' : 'rows',
    contextLength,
    sequences: sessions,
    microBatch,
    flashAttention,
    threads,
    positionsPerRow: spec.recipe.positionsPerRow,
  });
  const embedding = first ? new EmbeddingTable(library, spec.model, spec.recipe) : undefined;
  const facts = {
    architecture: spec.model.architecture,
    effectiveStart: spec.range.start,
    vocabularySize: embedding?.size ?? context.vocabularySize,
    // The device is the host, and what the stage holds there is this process, with what its first long prompt will take.
    footprint: {
      bytesRead: file.bytesRead,
      bytesDigest: file.bytesDigest,
      deviceBytes: process.memoryUsage.rss() + context.computeBytes,
    },
  };
  const sampling = last ? settings : undefined;
  return new LlamaLayers(facts, { context, embedding, sampling, sessions, release: () => file.release() });
}

function failed(code: Exclude<StatusCode, 'OK'>, message: string): LoadLayersOutcome {
  return { kind: 'failed', status: failure(code, message) };
}
