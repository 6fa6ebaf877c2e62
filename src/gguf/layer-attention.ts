import type { LayerAttention } from '../../gen/stageplane/v1/model.js';
import { U32_MAX } from '../core/uint.js';
import { attentionWindows } from './attention-windows.js';
import type { GgufModel } from './open-model.js';

/**
 * What each layer keeps of a token, and of how many tokens; empty when the file does not say how many heads there are.
 * Absent keys mean what llama.cpp takes them for: as many heads for keys and values as for queries, and heads that share
 * the width evenly.
 */
export function layerAttention(model: GgufModel): LayerAttention[] {
  const { architecture, metadata, numLayers } = model;
  const key = (name: string) => `${architecture}.attention.${name}`;
  const number = (name: string) => metadata.integer(key(name), 0, U32_MAX);
  const heads = perLayer(model, key('head_count'));
  if (heads === undefined) return [];
  const headsKv = perLayer(model, key('head_count_kv')) ?? heads;
  const windows = attentionWindows(model);

  const width = metadata.requiredInteger(`${architecture}.embedding_length`, 1, U32_MAX);
  // Layers may have no heads at all, and the first one is as good a layer as any to have none.
  const evenly = Math.floor(width / (heads.find((count) => count > 0) ?? 1));
  const keyLength = number('key_length') ?? evenly;
  const valueLength = number('value_length') ?? evenly;
  const isLatent = (number('key_length_mla') ?? 0) > 0 && (number('value_length_mla') ?? 0) > 0;

  return Array.from({ length: numLayers }, (_, layer) => {
    const window = windows[layer]!;
    const lengths =
      window > 0
        ? { key: number('key_length_swa') ?? keyLength, value: number('value_length_swa') ?? valueLength }
        : { key: keyLength, value: valueLength };
    return {
      heads: heads[layer]!,
      headsKv: headsKv[layer]!,
      keyLength: lengths.key,
      valueLength: isLatent ? 0 : lengths.value,
      window,
    };
  });
}

/** One number for each layer; undefined when the file has none. */
function perLayer({ metadata, numLayers }: GgufModel, key: string): number[] | undefined {
  const found = metadata.perLayer(key, numLayers, U32_MAX).map(Number);
  if (found.length === 0) return undefined;
  return found.length === numLayers ? found : new Array<number>(numLayers).fill(found[0]!);
}
