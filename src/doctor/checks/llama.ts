import { outputOf } from '../../agent/output-of.js';
import { ownWorker } from '../../agent/worker-program.js';
import { limits } from '../../core/limits.js';
import { findLlamaPackage } from '../../worker/engine/llama/llama-package.js';
import { type Check, ok, skipped, warning } from '../check.js';

/** In a process of its own: native code that does not suit this machine ends the process that loads it. */
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
    const [command = '', ...words] = ownWorker().tellBuilds ?? [];
    const build = buildIn(await outputOf(command, words, limits.engineBuildsMillis));
    if (build !== undefined) return ok(`${build} loads, and its structs are as expected`);
    return warning(
      `${library.folder} is the right package, but does not load here`,
      'install koffi and the package again; see which C library the machine has',
    );
  },
};

function buildIn(output: string | undefined): string | undefined {
  try {
    return JSON.parse(output ?? '')['llama.cpp'];
  } catch {
    return undefined;
  }
}
