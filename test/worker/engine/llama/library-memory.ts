import type { StageSettings } from '../../../../gen/stageplane/v1/provision.js';
import type { LlamaLibrary } from '../../../../src/worker/engine/llama/llama-library.js';
import { findLlamaPackage } from '../../../../src/worker/engine/llama/llama-package.js';
import { loadModel } from '../../../../src/worker/engine/llama/load-model.js';
import { StageContext } from '../../../../src/worker/engine/llama/stage-context.js';
import { testLibrary } from './cut-model.js';

const MIB = 1024 ** 2;

/** In bytes; of cache and compute the library says hundredths of a MiB. */
export interface LibraryMemory {
  readonly weights: number;
  readonly cache: number;
  readonly compute: number;
}

/** What the library itself says that it takes when a file is opened as a stage. */
export async function libraryMemory(
  path: string,
  settings: StageSettings,
  output: 'rows' | 'logits' = 'logits',
): Promise<LibraryMemory> {
  const { library, lines } = listening(await testLibrary());
  const loaded = loadModel(library, path);
  if (loaded.kind !== 'loaded') throw new Error(JSON.stringify(loaded));
  const weights = modelBytes(library, loaded.model);
  const context = new StageContext(library, loaded.model, {
    output,
    contextLength: settings.contextLength,
    sequences: settings.sessions,
    microBatch: settings.microBatch,
    flashAttention: settings.flashAttention,
    threads: 1,
    positionsPerRow: 1,
  });
  context.free();
  const sizes = (what: string) =>
    lines.flatMap((line) => Number(new RegExp(`${what} buffer size = +([\\d.]+) MiB`).exec(line)?.[1] ?? 0));
  const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0);
  return { weights, cache: sum(sizes('KV')) * MIB, compute: sum(sizes('compute')) * MIB };
}

/** Bytes of all tensors that the library has loaded. */
function modelBytes({ koffi }: LlamaLibrary, model: unknown): number {
  const found = findLlamaPackage();
  if (found.kind !== 'found') throw new Error('there is no llama.cpp here');
  const size = koffi.load(found.libraries.llama).func('llama_model_size', 'uint64', ['void*']);
  return Number(size(model));
}

/** The library with a log that keeps every line. */
function listening(library: LlamaLibrary): { library: LlamaLibrary; lines: string[] } {
  const { koffi, api } = library;
  const lines: string[] = [];
  const type = koffi.proto('void', ['int', 'str', 'void*']);
  const listen = <T>(work: () => T) => {
    const callback = koffi.register((_level: number, text: string) => lines.push(text), koffi.pointer(type));
    try {
      return library.log.listen(() => {
        api.setLog(callback, null);
        return work();
      });
    } finally {
      koffi.unregister(callback);
    }
  };
  return { library: { ...library, api, koffi, log: { listen } } as unknown as LlamaLibrary, lines };
}
