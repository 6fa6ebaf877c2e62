import type { WritableValue } from '../encode-header.js';
import type { MetadataValue } from '../metadata.js';
import type { GgufModel } from '../open-model.js';
import type { SliceRange } from './slice-range.js';
import type { HeaderRewrite, SliceRecipe } from './slice-recipe.js';

type Entry = readonly [key: string, value: WritableValue];

/** Arrays of the model that are as long as it has layers only by chance. */
const notPerLayer = new Set(['rope.dimension_sections']);

/** The model's keys are about all of it; of the general ones llama.cpp needs the first, and a reader likes the others. */
const keptGeneralKeys = new Set(['general.architecture', 'general.name', 'general.file_type']);

/**
 * The metadata of a slice: the architecture's own keys, with per-layer arrays cut to `range`, and no tokenizer, which
 * belongs to the token endpoint. `model` must have been opened with its arrays kept. `vocabularyRows` are the rows of
 * the tensor that the slice has as its embedding.
 */
export function sliceHeader(
  model: GgufModel,
  range: SliceRange,
  recipe: SliceRecipe,
  vocabularyRows: number,
): readonly Entry[] {
  const prefix = `${model.architecture}.`;
  const own = [...model.metadata.entries].flatMap(([key, value]): Entry[] => {
    if (!key.startsWith(prefix)) {
      const kept = keptGeneralKeys.has(key) ? writable(value) : undefined;
      return kept === undefined ? [] : [[key, kept]];
    }
    const name = key.slice(prefix.length);
    const rewrite = recipe.rewrites.find((candidate) => candidate.key === name);
    const written =
      rewrite === undefined ? cutPerLayer(name, value, model, range) : rewritten(rewrite, key, model, range);
    return written === undefined ? [] : [[key, written]];
  });
  const added = recipe.rewrites.flatMap((rewrite): Entry[] => {
    const key = prefix + rewrite.key;
    return rewrite.kind !== 'when-absent' || model.metadata.entries.has(key) ? [] : [[key, rewrite.value]];
  });
  const uint32 = (value: number): WritableValue => ({ type: 'uint32', value });
  return replaced(own, [
    ...added,
    [`${prefix}block_count`, uint32(range.end - range.start)],
    [`${prefix}vocab_size`, uint32(vocabularyRows)],
    ['tokenizer.ggml.model', { type: 'string', value: 'none' }],
  ]);
}

function rewritten(rewrite: HeaderRewrite, key: string, model: GgufModel, range: SliceRange): WritableValue {
  const value = model.metadata.entries.get(key)!;
  switch (rewrite.kind) {
    case 'count-from-start': {
      const count = model.metadata.requiredInteger(key, 0, model.numLayers);
      return { type: 'uint32', value: Math.max(0, count - range.start) };
    }
    case 'one-after-first-stage':
      return range.start === 0 ? writable(value)! : { type: 'float32', value: 1 };
    case 'zero':
      return { type: 'uint32', value: 0 };
    case 'when-absent':
      return writable(value)!;
  }
}

function cutPerLayer(
  name: string,
  value: MetadataValue,
  model: GgufModel,
  range: SliceRange,
): WritableValue | undefined {
  const written = writable(value);
  // `block_count` counts the layers of multi-token prediction too, and so do its arrays.
  const blocks = model.metadata.requiredInteger(`${model.architecture}.block_count`, 1, Number.MAX_SAFE_INTEGER);
  if (written?.type !== 'array' || written.items.length !== blocks || notPerLayer.has(name)) return written;
  return { ...written, items: written.items.slice(range.start, range.end) } as WritableValue;
}

/** The value as the writer takes it; undefined for text so long that it was not kept, which no engine reads. */
function writable(value: MetadataValue): WritableValue | undefined {
  switch (value.kind) {
    case 'number':
      return { type: value.type, value: value.value };
    case 'string':
      return { type: 'string', value: value.value };
    case 'long-string':
      return undefined;
    case 'numbers':
      return { type: 'array', elements: value.type, items: Array.from<number | bigint>(kept(value.items)) };
    case 'strings':
      return { type: 'array', elements: 'string', items: kept(value.items) };
  }
}

function kept<T>(items: T | undefined): T {
  if (items === undefined) throw new Error('a slice needs a model that was opened with its arrays kept');
  return items;
}

/** `entries` with those of `news` in the place of the same keys, or after all of them. */
function replaced(entries: readonly Entry[], news: readonly Entry[]): readonly Entry[] {
  const merged = new Map<string, WritableValue>(entries);
  for (const [key, value] of news) merged.set(key, value);
  return [...merged];
}
