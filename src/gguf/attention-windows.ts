import { U32_MAX } from '../core/uint.js';
import type { GgufModel } from './open-model.js';

/**
 * Architectures with a sliding window, and of how many layers the last one has none, where the file does not say. From
 * llama.cpp's own loaders. A model of any other architecture is taken to have no window, unless its file says so layer by
 * layer: then its cache is priced too high, never too low.
 */
const layersPerPattern: ReadonlyMap<string, number> = new Map([
  ['gemma2', 2],
  ['gemma3', 6],
  ['gemma3n', 5],
  ['gpt-oss', 2],
  ['olmo2', 4],
  ['cohere2', 4],
]);

/** Tokens that each layer looks back on, 0 for all: `layer % pattern < pattern - 1` has a window. One entry per layer. */
export function attentionWindows({ architecture, metadata, numLayers }: GgufModel): number[] {
  const window = metadata.integer(`${architecture}.attention.sliding_window`, 0, U32_MAX) ?? 0;
  const key = `${architecture}.attention.sliding_window_pattern`;
  if (window === 0) return new Array<number>(numLayers).fill(0);
  if (metadata.arrayLength(key) !== undefined) {
    const flags = metadata.perLayer(key, numLayers, 1);
    return Array.from({ length: numLayers }, (_, layer) => ((flags[layer] ?? flags[0]) === 1n ? window : 0));
  }
  const fallback = layersPerPattern.get(architecture);
  const pattern = fallback && (metadata.integer(key, 0, U32_MAX) ?? fallback);
  // As llama.cpp has it, a pattern of 0 is a window in every layer.
  const hasWindow = (layer: number) => pattern !== undefined && (pattern === 0 || layer % pattern < pattern - 1);
  return Array.from({ length: numLayers }, (_, layer) => (hasWindow(layer) ? window : 0));
}
