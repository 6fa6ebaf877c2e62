import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { KvCacheType, StageSettings } from '../../../../gen/stageplane/v1/provision.js';
import { memoryModel } from '../../../../src/core/model/memory-model.js';
import { inspectModel } from '../../../../src/gguf/inspect-model.js';
import { findLlamaPackage } from '../../../../src/worker/engine/llama/llama-package.js';
import { smallArchitectures, writeArchitectureModel } from '../../../gguf/slice/architecture-model.js';
import { temporaryFolder } from '../../../support/temporary-folder.js';
import { libraryMemory } from './library-memory.js';

const folder = temporaryFolder(afterAll);
/** So many that each of the small models' layers has a whole MiB of cache, and the library's words are exact. */
const CONTEXT = 8192;
const MICRO_BATCH = 512;

type Name = keyof typeof smallArchitectures;

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
      const reserved = await libraryMemory(path, settings);
      expect(kvCache).toBe(reserved.cache);
      expect(1.02 * compute).toBeGreaterThan(reserved.compute);
      // With it, models as small as these are below the floor.
      if (!flashAttention) expect(compute).toBeLessThan(1.02 * reserved.compute);
    },
  );
});
