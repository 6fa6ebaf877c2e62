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

/** For architectures in which llama.cpp takes nothing else for the head. */
const withHead = [...plain.requiredTensors, 'output.weight'];

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
    tellingLayerCounts: [26, 27].map((layers) => ({
      layers,
      because: 'are how llama.cpp recognises the lite models, whose queries are not compressed',
    })),
    // Older conversions have the keys and values in one tensor, and are computed otherwise.
    expectedLayerTensors: ['attn_q_a.weight', 'attn_k_b.weight', 'attn_v_b.weight'],
  },
  {
    ...plain,
    architecture: 'glm4moe',
    rewrites: [
      { kind: 'count-from-start', key: 'leading_dense_block_count' },
      { kind: 'zero', key: 'nextn_predict_layers' },
      // llama.cpp takes rows only from models that place images too. With one position in all planes that is the same rope.
      {
        kind: 'when-absent',
        key: 'rope.dimension_sections',
        value: { type: 'array', elements: 'int32', items: [1, 1, 1, 0] },
      },
    ],
    positionsPerRow: 4,
  },
  {
    ...plain,
    architecture: 'gpt-oss',
    // Every other layer has a window, and llama.cpp counts them from a file's own first layer.
    cutEvery: 2,
    requiredTensors: withHead,
  },
  {
    ...plain,
    architecture: 'qwen3vl',
    // Features of an image come in beside the rows, in the first layers; text has none.
    rewrites: [{ kind: 'zero', key: 'n_deepstack_layers' }],
    positionsPerRow: 4,
  },
  {
    ...plain,
    architecture: 'smollm3',
    // Every fourth layer has no rope, and llama.cpp counts them from a file's own first layer.
    cutEvery: 4,
  },
  { ...plain, architecture: 'qwen2moe', requiredTensors: withHead },
  {
    ...plain,
    architecture: 'olmo2',
    requiredTensors: withHead,
    // The models with a window attend to everything in every fourth layer, counted from a file's own first one.
    cutEvery: 4,
  },
  {
    ...plain,
    architecture: 'gemma2',
    proof: {
      kind: 'unverified',
      seen:
        'the whole model fed with rows is exact, and from the first cut on the tokens are others without any error: ' +
        'llama.cpp multiplies whatever comes in by the root of the width, and no key of the header turns that off',
    },
  },
]);

function byArchitecture(recipes: readonly SliceRecipe[]): ReadonlyMap<string, SliceRecipe> {
  return new Map(recipes.map((recipe) => [recipe.architecture, recipe]));
}
