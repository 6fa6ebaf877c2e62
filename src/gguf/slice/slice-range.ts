import type { ModelCuts } from '../../core/planner/model-cuts.js';
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

/** What of a model decides where it may be cut. */
export interface CutShape {
  readonly numLayers: number;
  /** Layers between two places where it may be cut. */
  readonly step: number;
  readonly hasWindow: boolean;
  readonly tensorNames: ReadonlySet<string>;
}

/** Every layer at which a stage may start, and why not elsewhere. Throws GgufError when the header's value is unusable. */
export function modelCuts(recipe: SliceRecipe, model: GgufModel): ModelCuts {
  return cutsOf(recipe, {
    numLayers: model.numLayers,
    step: cutStep(recipe, model),
    hasWindow: hasWindow(model),
    tensorNames: new Set(model.tensors.map(({ name }) => name)),
  });
}

/** The same of a model of which there may be no file. */
export function cutsOf(recipe: SliceRecipe, shape: CutShape): ModelCuts {
  const engine = 'llama.cpp';
  const { numLayers, step, tensorNames } = shape;
  const because = whyUncut(recipe, shape);
  if (because !== undefined) return { kind: 'uncut', engine, because };
  const starts = Array.from({ length: Math.ceil(numLayers / step) - 1 }, (_, index) => (index + 1) * step).filter(
    (layer) => missingTensor(recipe, tensorNames, layer) === undefined,
  );
  const rule =
    step > 1 ? `only at multiples of ${step}` : `only before a layer with ${recipe.expectedLayerTensors.join(', ')}`;
  return { kind: 'cuttable', engine, starts, rule, refusedLengths: recipe.tellingLayerCounts };
}

/** Why the recipe does not give this slice, as a sentence with a way out; undefined when it does. */
export function sliceObstacle(recipe: SliceRecipe, model: GgufModel, range: SliceRange): string | undefined {
  if (isWhole(range, model)) return undefined;
  const name = `${model.path} (${recipe.architecture}, ${model.numLayers} layers)`;
  const cuts = modelCuts(recipe, model);
  if (cuts.kind === 'uncut') return `${name} cannot be cut: ${cuts.because}; plan a single stage`;
  const refused = cuts.refusedLengths.find(({ layers }) => layers === range.end - range.start);
  if (refused !== undefined) return `${name} cannot have a stage of ${refused.layers} layers, which ${refused.because}`;
  const ends = [range.start, range.end].filter((layer) => layer !== 0 && layer !== model.numLayers);
  const cut = ends.find((layer) => !cuts.starts.includes(layer));
  if (cut === undefined) return undefined;
  return `${name} cannot be cut at layer ${cut}, ${cuts.rule}: plan layer ranges that end there`;
}

function whyUncut(recipe: SliceRecipe, { numLayers, step, hasWindow, tensorNames }: CutShape): string | undefined {
  const telling = recipe.tellingLayerCounts.find(({ layers }) => layers === numLayers);
  if (telling !== undefined) return `${telling.layers} layers ${telling.because}`;
  if (step === 1 && hasWindow) {
    return 'it has an attention window, which the models that were tried had not';
  }
  const missing = missingTensor(recipe, tensorNames, 0);
  return missing && `it has no ${missing}, as the models that were tried have`;
}

/** A tensor of one layer without which the model is of another shape than those that were tried. */
function missingTensor(recipe: SliceRecipe, names: ReadonlySet<string>, layer: number): string | undefined {
  return recipe.expectedLayerTensors.map((tensor) => `blk.${layer}.${tensor}`).find((name) => !names.has(name));
}

/** Layers with and without a window take turns, counted from a file's first layer: a cut anywhere would mix them up. */
function hasWindow({ metadata, architecture }: GgufModel): boolean {
  return (metadata.integer(`${architecture}.attention.sliding_window`, 0, Number.MAX_SAFE_INTEGER) ?? 0) > 0;
}
