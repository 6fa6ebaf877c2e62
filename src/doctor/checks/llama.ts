import { toldBuilds } from '../../agent/told-builds.js';
import { ownWorker } from '../../agent/worker-program.js';
import { findLlamaPackage } from '../../worker/engine/llama/llama-package.js';
import { type Check, ok, skipped, warning } from '../check.js';

export const llamaCheck: Check = {
  name: 'llama.cpp library',
  roles: ['agent'],
  look: async () => {
    const library = findLlamaPackage();
    if (library.kind === 'refused') {
      const message = `not offered: ${library.message}`;
      return library.reason === 'platform'
        ? skipped(message)
        : warning(message, 'until then runs here use engine fixture');
    }
    const { 'llama.cpp': build } = await toldBuilds(ownWorker());
    if (build !== undefined) return ok(`${build} loads, and its structs are as expected`);
    return warning(
      `${library.folder} is the right package, but does not load here`,
      'install koffi and the package again; see which C library the machine has',
    );
  },
};
