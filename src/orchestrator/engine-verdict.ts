import type { ModelCuts } from '../core/planner/model-cuts.js';
import { refusing } from '../gguf/gguf-error.js';
import type { GgufModel } from '../gguf/open-model.js';
import { embeddingObstacle } from '../gguf/slice/embedding-obstacle.js';
import { modelCuts } from '../gguf/slice/slice-range.js';
import { sliceRecipes } from '../gguf/slice/slice-recipes.js';

/** Whether an engine runs stages of a model, and where it may be cut for them. */
export type EngineVerdict =
  /** One sentence that says what to do next. */
  { readonly kind: 'obstacle'; readonly message: string } | { readonly kind: 'cuts'; readonly cuts: ModelCuts };

/** What engine "llama.cpp" makes of a model that was opened with `keptForSlices`: what it would refuse at loading. */
export async function judgeForLlama(model: GgufModel): Promise<EngineVerdict> {
  const recipe = sliceRecipes.get(model.architecture);
  if (recipe?.proof.kind !== 'verified') return obstacle(unknownArchitecture(model.architecture));
  const unreadable = embeddingObstacle(model) ?? tokenizerObstacle(model);
  if (unreadable !== undefined) return obstacle(unreadable);
  const judged = await refusing(async () => ({ kind: 'cuts' as const, cuts: modelCuts(recipe, model) }));
  return judged.kind === 'refused' ? obstacle(judged.error.message) : judged;
}

/** Stages need none, but prompts do. */
function tokenizerObstacle({ path, metadata }: GgufModel): string | undefined {
  const name = metadata.text('tokenizer.ggml.model');
  if (name !== undefined && name !== 'none' && name !== 'no_vocab') return undefined;
  return `${path} has no tokenizer, so no prompt can be made into tokens: take a file that embeds one`;
}

function obstacle(message: string): EngineVerdict {
  return { kind: 'obstacle', message };
}

function unknownArchitecture(architecture: string): string {
  const verified = [...sliceRecipes.values()].filter(({ proof }) => proof.kind === 'verified');
  return (
    `engine "llama.cpp" runs no stages of architecture ${architecture}, because nobody has shown that they compute what ` +
    `the whole model does: choose a model of ${verified.map((recipe) => recipe.architecture).join(', ')}`
  );
}
