import type { CatalogueModel } from '../core/catalogue/catalogue-model.js';
import { findModel } from '../core/catalogue/find-model.js';
import type { ModelCuts } from '../core/planner/model-cuts.js';
import { cutsOf } from '../gguf/slice/slice-range.js';
import { sliceRecipes } from '../gguf/slice/slice-recipes.js';
import type { LibraryModel } from './model-library.js';

export type FoundKnownModel =
  | { readonly kind: 'found'; readonly model: LibraryModel }
  /** One sentence that says what to do next. */
  | { readonly kind: 'refused'; readonly message: string };

/** A model of the catalogue, by its reference: it can be planned before anybody has a file of it. */
export function knownModel(reference: string): FoundKnownModel {
  const found = findModel(reference);
  if (found.kind === 'refused') return found;
  const { model } = found;
  const llama = { kind: 'cuts', cuts: cutsOfLayout(model) } as const;
  return { kind: 'found', model: { inspection: model.inspection, obstacle: undefined, llama } };
}

/** The catalogue has only architectures that were shown to run in stages. */
function cutsOfLayout({ layout, tensors }: CatalogueModel): ModelCuts {
  const recipe = sliceRecipes.get(layout.architecture)!;
  const step = typeof recipe.cutEvery === 'number' ? recipe.cutEvery : recipe.cutEvery.fallback;
  return cutsOf(recipe, {
    numLayers: layout.layers,
    step,
    hasWindow: layout.window !== undefined,
    tensorNames: new Set(tensors.map(({ name }) => name)),
  });
}
