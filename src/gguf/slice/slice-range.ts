import type { GgufModel } from '../open-model.js';
import type { StagePosition } from '../stage-tensors.js';
import type { SliceRecipe } from './slice-recipe.js';

/** The layers of one stage: `[start, end)`. */
export interface SliceRange {
  readonly start: number;
  readonly end: number;
}

export function positionOf(range: SliceRange, model: GgufModel): StagePosition {
  return { first: range.start === 0, last: range.end === model.numLayers };
}

/** Whether the stage is the whole model. */
function isWhole(range: SliceRange, model: GgufModel): boolean {
  return range.start === 0 && range.end === model.numLayers;
}

/** False for a whole model whose own file can be fed with rows as well: nothing has to be copied then. */
export function needsSlice(recipe: SliceRecipe, model: GgufModel, range: SliceRange): boolean {
  return !isWhole(range, model) || recipe.rewrites.some(({ kind }) => kind === 'zero' || kind === 'when-absent');
}

/** Layers between two places where the model may be cut. Throws GgufError when the header's value is unusable. */
export function cutStep({ architecture, cutEvery }: SliceRecipe, model: GgufModel): number {
  if (typeof cutEvery === 'number') return cutEvery;
  return model.metadata.integer(`${architecture}.${cutEvery.key}`, 1, model.numLayers) ?? cutEvery.fallback;
}

/** Every layer at which a stage may start, but the first. */
export function allowedCuts(recipe: SliceRecipe, model: GgufModel): number[] {
  if (recipe.tellingLayerCounts.some(({ layers }) => layers === model.numLayers)) return [];
  const step = cutStep(recipe, model);
  return Array.from({ length: Math.ceil(model.numLayers / step) - 1 }, (_, index) => (index + 1) * step);
}

/** Why the recipe does not give this slice, as a sentence with a way out; undefined when it does. */
export function sliceObstacle(recipe: SliceRecipe, model: GgufModel, range: SliceRange): string | undefined {
  if (isWhole(range, model)) return undefined;
  const name = `${model.path} (${recipe.architecture}, ${model.numLayers} layers)`;
  for (const { layers, because } of recipe.tellingLayerCounts) {
    if (layers === model.numLayers) return `${name} cannot be cut: ${layers} layers ${because}; plan a single stage`;
    if (layers === range.end - range.start) return `${name} cannot have a stage of ${layers} layers, which ${because}`;
  }
  if (cutStep(recipe, model) === 1 && hasWindow(model)) {
    return `${name} cannot be cut: it has an attention window, which the models that were tried had not; plan a single stage`;
  }
  const missing = recipe.expectedLayerTensors.find(
    (tensor) => !model.tensors.some(({ name }) => name === `blk.${range.start}.${tensor}`),
  );
  if (missing !== undefined) {
    return `${name} cannot be cut: it has no blk.${range.start}.${missing}, as the models that were tried have; plan a single stage`;
  }
  const step = cutStep(recipe, model);
  const cut = [range.start, range.end].find((layer) => layer % step !== 0 && layer !== model.numLayers);
  if (cut === undefined) return undefined;
  return `${name} cannot be cut at layer ${cut}, only at multiples of ${step}: plan layer ranges that end there`;
}

/** Layers with and without a window take turns, counted from a file's first layer: a cut anywhere would mix them up. */
function hasWindow({ metadata, architecture }: GgufModel): boolean {
  return (metadata.integer(`${architecture}.attention.sliding_window`, 0, Number.MAX_SAFE_INTEGER) ?? 0) > 0;
}
