import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { KvCacheType, StageSettings } from '../../../../gen/stageplane/v1/provision.js';
import { memoryModel } from '../../../../src/core/model/memory-model.js';
import { inspectModel } from '../../../../src/gguf/inspect-model.js';
import type { LlamaLibrary } from '../../../../src/worker/engine/llama/llama-library.js';
import { findLlamaPackage } from '../../../../src/worker/engine/llama/llama-package.js';
import { loadModel } from '../../../../src/worker/engine/llama/load-model.js';
import { StageContext } from '../../../../src/worker/engine/llama/stage-context.js';
import { smallArchitectures, writeArchitectureModel } from '../../../gguf/slice/architecture-model.js';
import { temporaryFolder } from '../../../support/temporary-folder.js';
import { testLibrary } from './cut-model.js';

const folder = temporaryFolder(afterAll);
const MIB = 1024 ** 2;
/** So many that each of the small models' layers has a whole MiB of cache, and the library's words are exact. */
const CONTEXT = 8192;
const MICRO_BATCH = 512;

type Name = keyof typeof smallArchitectures;

/** Bytes that the library says it reserves when a whole model is opened as a stage. */
async function reservedFor(path: string, settings: StageSettings): Promise<{ cache: number; compute: number }> {
  const { library, lines } = listening(await testLibrary());
  const loaded = loadModel(library, path);
  if (loaded.kind !== 'loaded') throw new Error(JSON.stringify(loaded));
  const context = new StageContext(library, loaded.model, {
    output: 'logits',
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
  return { cache: sum(sizes('KV')) * MIB, compute: sum(sizes('compute')) * MIB };
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

async function planned(path: string, settings: StageSettings) {
  const result = await inspectModel(path);
  if (result.kind === 'refused') throw result.error;
  const model = memoryModel(result.inspection, settings);
  if (model.kind === 'unknown') throw new Error(model.message);
  return model.parts(0, model.numLayers);
}

describe.skipIf(findLlamaPackage().kind === 'refused')('what is planned is what llama.cpp takes', () => {
  // The layer that glm4moe predicts with is in the whole file, but in no stage.
  const names = (Object.keys(smallArchitectures) as Name[]).filter((name) => name !== 'glm4moe');

  it.each(names.flatMap((name) => [[name, false] as const, [name, true] as const]))(
    'for %s, flash attention %s',
    async (name, flashAttention) => {
      const path = await writeArchitectureModel(join(folder, `${name}.gguf`), name, smallArchitectures[name]);
      const settings: StageSettings = {
        ...StageSettings.create(),
        engine: 'llama.cpp',
        contextLength: CONTEXT,
        microBatch: MICRO_BATCH,
        kvCacheType: KvCacheType.KV_CACHE_TYPE_F16,
        flashAttention,
        sessions: 2,
      };
      const { kvCache, compute } = await planned(path, settings);
      const reserved = await reservedFor(path, settings);
      expect(kvCache).toBe(reserved.cache);
      expect(1.02 * compute).toBeGreaterThan(reserved.compute);
      // With it, models as small as these are below the floor.
      if (!flashAttention) expect(compute).toBeLessThan(1.02 * reserved.compute);
    },
  );
});
