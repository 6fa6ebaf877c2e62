import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createServer, createServerModuleRunner, isRunnableDevEnvironment, type ViteDevServer } from 'vite';
import type { ModuleRunner } from 'vite/module-runner';
import type { Bug } from './bugs.js';

type Simulator = typeof import('../simulation.js');

const root = join(import.meta.dirname, '..', '..', '..');

/** Loads the simulator over a source that differs in one place. Files on disk stay as they are. */
export class PatchedSource {
  #bug: Bug | undefined;
  #runner: ModuleRunner | undefined;
  readonly #server: Promise<ViteDevServer>;

  constructor() {
    this.#server = createServer({
      configFile: false,
      root,
      logLevel: 'error',
      appType: 'custom',
      server: { middlewareMode: true, hmr: false, ws: false, watch: null },
      optimizeDeps: { noDiscovery: true },
      plugins: [
        {
          name: 'planted-bug',
          enforce: 'pre',
          transform: (code, id) => (id === this.#path() ? this.#plant(code) : undefined),
        },
      ],
    });
  }

  /** Every module anew, so that no state of one bug meets another. Throws when the bug does not fit its file. */
  async load(bug: Bug): Promise<Simulator> {
    this.#bug = bug;
    this.#plant(readFileSync(join(root, bug.file), 'utf8'));
    const { ssr } = (await this.#server).environments;
    if (!isRunnableDevEnvironment(ssr)) throw new Error('Vite runs no modules here');
    this.#forget(ssr);
    await this.#runner?.close();
    this.#runner = createServerModuleRunner(ssr, { hmr: false });
    const simulator = await this.#runner.import<Simulator>('/test/sim/simulation.ts');
    // The next bug's module is made of its own source, and this one's of what it was.
    this.#forget(ssr);
    return simulator;
  }

  async close(): Promise<void> {
    await this.#runner?.close();
    await (await this.#server).close();
  }

  #path(): string | undefined {
    return this.#bug && join(root, this.#bug.file);
  }

  #forget({ moduleGraph }: ViteDevServer['environments']['ssr']): void {
    for (const module of moduleGraph.getModulesByFile(this.#path() ?? '') ?? []) moduleGraph.invalidateModule(module);
  }

  #plant(code: string): string {
    const { file, replace, by } = this.#bug!;
    const found = code.split(replace).length - 1;
    if (found !== 1) throw new Error(`the bug's text is ${found} times in ${file}: bring it in step with the source`);
    return code.replace(replace, () => by);
  }
}
