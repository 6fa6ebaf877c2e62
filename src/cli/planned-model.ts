import type { ModelInspection } from '../../gen/stageplane/v1/model.js';
import type { CatalogueModel } from '../core/catalogue/catalogue-model.js';
import { findModel } from '../core/catalogue/find-model.js';
import type { ModelCuts } from '../core/planner/model-cuts.js';
import { inspectModel } from '../gguf/inspect-model.js';
import { cutsOf } from '../gguf/slice/slice-range.js';
import { sliceRecipes } from '../gguf/slice/slice-recipes.js';
import { keptForSlices } from '../gguf/slice/write-slice.js';
import { type EngineVerdict, judgeForLlama } from '../orchestrator/engine-verdict.js';

/** A model that can be planned without the orchestrator's help. */
export interface PlannedModel {
  readonly inspection: ModelInspection;
  /** Why nothing can be planned from it, whatever the engine; one sentence. */
  readonly obstacle: string | undefined;
  /** What engine "llama.cpp" makes of it. */
  readonly llama: EngineVerdict;
}

export type FoundPlannedModel =
  | { readonly kind: 'found'; readonly model: PlannedModel }
  /** One sentence that says what to do next. */
  | { readonly kind: 'refused'; readonly message: string };

/** A model of the catalogue, by its reference. */
export function knownModel(reference: string): FoundPlannedModel {
  const found = findModel(reference);
  if (found.kind === 'refused') return found;
  const { model } = found;
  const llama: EngineVerdict = { kind: 'cuts', cuts: cutsOfLayout(model) };
  return { kind: 'found', model: { inspection: model.inspection, obstacle: undefined, llama } };
}

/** A file on this machine. */
export async function readModel(path: string): Promise<FoundPlannedModel> {
  const read = await inspectModel(path, { keep: keptForSlices });
  if (read.kind === 'refused') return { kind: 'refused', message: read.error.message };
  const { inspection, obstacle, model } = read;
  return { kind: 'found', model: { inspection, obstacle, llama: await judgeForLlama(model) } };
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
