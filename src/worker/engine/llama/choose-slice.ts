import { refusing } from '../../../gguf/gguf-error.js';
import { embeddingObstacle } from '../../../gguf/slice/embedding-obstacle.js';
import { type SliceRange, sliceObstacle } from '../../../gguf/slice/slice-range.js';
import { sliceRecipes } from '../../../gguf/slice/slice-recipes.js';
import { openForSlices, type SliceSpec } from '../../../gguf/slice/write-slice.js';
import type { LoadOptions, LoadRequest } from '../load.js';
import { failure, type StatusCode, type StructuredStatus } from '../status.js';
import { llamaVerifiedArchitectures } from './verified-architectures.js';

export type ChosenSlice =
  | { readonly kind: 'chosen'; readonly spec: SliceSpec }
  /** INVALID_ARGUMENT for a file that is no model, FAILED_PRECONDITION for another model, UNIMPLEMENTED for one without a recipe. */
  | { readonly kind: 'failed'; readonly status: StructuredStatus };

/** Opens the model of a load request and finds the recipe by which its stage is cut out. */
export async function chooseSlice(request: LoadRequest, options: LoadOptions): Promise<ChosenSlice> {
  const opened =
    options.model === undefined
      ? await openForSlices(request.artifactPath)
      : { kind: 'opened' as const, model: options.model };
  if (opened.kind === 'refused') return failed('INVALID_ARGUMENT', opened.error.message);
  const { model } = opened;
  if (model.numLayers !== request.totalLayers) {
    const message = `${model.path} has ${model.numLayers} layers, not ${request.totalLayers}: plan again with this file`;
    return failed('FAILED_PRECONDITION', message);
  }
  const recipe = sliceRecipes.get(model.architecture);
  if (recipe?.proof.kind !== 'verified') {
    const known = llamaVerifiedArchitectures.join(', ');
    const message = `${model.path} is of architecture ${model.architecture}; engine llama.cpp runs stages of ${known}`;
    return failed('UNIMPLEMENTED', message);
  }
  const range: SliceRange = { start: request.shardStart, end: request.shardEnd + 1 };
  const judged = await refusing(async () => ({
    kind: 'judged' as const,
    obstacle: embeddingObstacle(model) ?? sliceObstacle(recipe, model, range),
  }));
  if (judged.kind === 'refused') return failed('INVALID_ARGUMENT', judged.error.message);
  if (judged.obstacle !== undefined) return failed('UNIMPLEMENTED', judged.obstacle);
  return { kind: 'chosen', spec: { model, range, recipe } };
}

function failed(code: Exclude<StatusCode, 'OK'>, message: string): ChosenSlice {
  return { kind: 'failed', status: failure(code, message) };
}
