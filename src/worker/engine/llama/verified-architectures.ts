import { sliceRecipes } from '../../../gguf/slice/slice-recipes.js';

/** What this engine offers to run in stages: architectures whose slices were shown to compute what the whole model does. */
export const llamaVerifiedArchitectures: readonly string[] = [...sliceRecipes.values()]
  .filter(({ proof }) => proof.kind === 'verified')
  .map(({ architecture }) => architecture);
