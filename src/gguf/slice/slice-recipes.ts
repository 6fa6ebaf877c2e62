import type { SliceRecipe } from './slice-recipe.js';

/** What most architectures need: cuts anywhere, and a head that may be stored in the embedding's place. */
const plain = {
  version: 1,
  proof: { kind: 'verified' },
  cutEvery: 1,
  tellingLayerCounts: [],
  rewrites: [],
  requiredTensors: ['token_embd.weight', 'output_norm.weight'],
  expectedLayerTensors: [],
  positionsPerRow: 1,
  embeddingFactor: 'one',
} as const satisfies Omit<SliceRecipe, 'architecture'>;

/** Every architecture that somebody tried to cut, by `general.architecture`. Only verified ones are offered. */
export const sliceRecipes: ReadonlyMap<string, SliceRecipe> = byArchitecture([
  { ...plain, architecture: 'llama' },
  { ...plain, architecture: 'qwen2' },
  { ...plain, architecture: 'qwen3' },
  { ...plain, architecture: 'qwen3moe' },
  {
    ...plain,
    architecture: 'gemma3',
    // Every so many layers one attends to everything; llama.cpp counts them from a file's own first layer.
    cutEvery: { key: 'attention.sliding_window_pattern', fallback: 6 },
    tellingLayerCounts: [
      { layers: 62, because: 'are how llama.cpp recognises the 27B model, and scales its attention' },
    ],
    embeddingFactor: 'square-root-of-width',
  },
  {
    ...plain,
    architecture: 'granite',
    // Without this every stage scales its rows again: wrong text, and no error.
    rewrites: [{ kind: 'one-after-first-stage', key: 'embedding_scale' }],
  },
  {
    ...plain,
    architecture: 'deepseek2',
    rewrites: [{ kind: 'count-from-start', key: 'leading_dense_block_count' }],
  },
]);

function byArchitecture(recipes: readonly SliceRecipe[]): ReadonlyMap<string, SliceRecipe> {
  return new Map(recipes.map((recipe) => [recipe.architecture, recipe]));
}
