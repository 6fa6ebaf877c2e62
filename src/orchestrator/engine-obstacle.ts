import type { ModelInspection } from '../../gen/stageplane/v1/model.js';
import { sliceRecipes } from '../gguf/slice/slice-recipes.js';

/** Why an engine runs no stages of a model, as a sentence; undefined when nothing stands in the way. */
export function engineObstacle(engine: string, { architecture }: ModelInspection): string | undefined {
  if (engine !== 'llama.cpp' || isVerified(architecture)) return undefined;
  const verified = [...sliceRecipes.keys()].filter(isVerified).join(', ');
  return (
    `engine "llama.cpp" runs no stages of architecture ${architecture}, because nobody has shown that they compute what ` +
    `the whole model does: choose a model of ${verified}`
  );
}

function isVerified(architecture: string): boolean {
  return sliceRecipes.get(architecture)?.proof.kind === 'verified';
}
