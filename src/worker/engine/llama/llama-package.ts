import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** Why the engine is not there. The sentence says what to do. */
export interface LlamaRefusal {
  readonly kind: 'refused';
  readonly reason: 'platform' | 'package-missing' | 'other-build' | 'library-broken' | 'other-layout';
  readonly message: string;
}

export interface LlamaPackage {
  readonly kind: 'found';
  /** Where the libraries are. */
  readonly folder: string;
  readonly libraries: { readonly llama: string; readonly ggml: string; readonly ggmlBase: string };
}

/** The one build whose struct layouts `structs.ts` describes: release of the npm package, and of llama.cpp in it. */
export const LLAMA_BUILD = { package: '3.21.1', release: 'v0.4.0' };

/** By Node's names. The same release exists for other platforms; stages were compared with whole models on these alone. */
const packages: Readonly<Record<string, { readonly name: string; readonly folder: string }>> = {
  'linux-x64': { name: '@node-llama-cpp/linux-x64', folder: 'linux-x64' },
};

export interface FindLlamaOptions {
  /** Default: this machine's. */
  readonly platform?: string;
  /** File from which the package is resolved. Default: this one. */
  readonly from?: string;
}

/** Looks for the prebuilt library of this platform and checks that it is the known build. Loads no native code. */
export function findLlamaPackage(options: FindLlamaOptions = {}): LlamaPackage | LlamaRefusal {
  const platform = options.platform ?? `${process.platform}-${process.arch}`;
  const known = packages[platform];
  if (known === undefined) {
    const names = Object.keys(packages).join(', ');
    return refused('platform', `engine llama.cpp runs on ${names} so far, not on ${platform}: use another node`);
  }
  const root = packageFolder(known.name, options.from ?? import.meta.url);
  if (root === undefined) {
    const wanted = `${known.name}@${LLAMA_BUILD.package}`;
    return refused('package-missing', `engine llama.cpp needs the optional package ${wanted}: npm install ${wanted}`);
  }
  const found = buildIn(root, known.folder);
  const wanted = `${LLAMA_BUILD.package} with llama.cpp ${LLAMA_BUILD.release}`;
  if (found !== wanted) {
    return refused(
      'other-build',
      `${root} is ${found}; engine llama.cpp is made for ${wanted} alone: install that one`,
    );
  }
  const folder = join(root, 'bins', known.folder);
  const libraries = {
    llama: library(folder, 'llama'),
    ggml: library(folder, 'ggml'),
    ggmlBase: library(folder, 'ggml-base'),
  };
  const missing = Object.entries(libraries).find(([, path]) => path === undefined);
  if (missing !== undefined) return refused('other-build', `${folder} has no library ${missing[0]}: install it again`);
  return { kind: 'found', folder, libraries: libraries as LlamaPackage['libraries'] };
}

function packageFolder(name: string, from: string): string | undefined {
  try {
    // The package exports its entry alone, "dist/index.js".
    return dirname(dirname(createRequire(from).resolve(name)));
  } catch {
    return undefined;
  }
}

/** "<version> with llama.cpp <release>", as the package's own files tell it. */
function buildIn(root: string, folder: string): string {
  try {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const build = JSON.parse(readFileSync(join(root, 'bins', folder, '_nlcBuildMetadata.json'), 'utf8'));
    return `${version} with llama.cpp ${build.buildOptions.llamaCpp.release}`;
  } catch (error) {
    return `not readable (${(error as Error).message})`;
  }
}

function library(folder: string, name: string): string | undefined {
  const pattern = new RegExp(`^(lib)?${name}(\\.v[\\d.]+)?\\.(so|dylib|dll)$`);
  const file = readdirSync(folder).find((candidate) => pattern.test(candidate));
  return file && join(folder, file);
}

function refused(reason: LlamaRefusal['reason'], message: string): LlamaRefusal {
  return { kind: 'refused', reason, message };
}
