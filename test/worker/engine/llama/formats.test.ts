import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeTinyModel } from '../../../../src/gguf/tiny-model.js';
import { findLlamaPackage } from '../../../../src/worker/engine/llama/llama-package.js';
import { llamaLoader } from '../../../../src/worker/engine/llama/load-llama-layers.js';
import { SessionEngine } from '../../../../src/worker/engine/session-engine.js';
import { temporaryFolder } from '../../../support/temporary-folder.js';
import { generate, pipelineOf } from '../pipeline.js';
import { testLibrary, testModel } from './cut-model.js';
import { fileTypes, quantize } from './quantize.js';
import { greedyTokens, WholeModel } from './whole-model.js';

const folder = temporaryFolder(afterAll);
const LAYERS = 4;
const TOKENS = 12;
const settings = { microBatch: 8, contextLength: 256, flashAttention: false, threads: 1 };
const prompt = [1, ...Array.from({ length: 20 }, (_, index) => 260 + ((index * 7919) % 250))];

describe.skipIf(findLlamaPackage().kind === 'refused')('stages say what the whole model says in every format', () => {
  let original: string;
  beforeAll(async () => {
    // Wide enough for blocks of 256.
    const shape = { layers: LAYERS, hidden: 256, feedForward: 512 };
    [original] = await writeTinyModel(join(folder, 'original.gguf'), shape);
  });

  test.each(Object.keys(fileTypes) as (keyof typeof fileTypes)[])('%s', async (format) => {
    const library = await testLibrary();
    const path = join(folder, `${format}.gguf`);
    quantize(library, original, path, format);
    const types = (await testModel(path)).tensors.map(({ type }) => type);
    expect(types).toContain(format.replace('_M', ''));
    const whole = greedyTokens(new WholeModel(library, path, { ...settings, tapped: false }), prompt, TOKENS);
    expect(new Set(whole).size).toBeGreaterThan(3);
    const engines: SessionEngine[] = [];
    const make = () => {
      const engine = new SessionEngine(llamaLoader({ folder: join(folder, 'slices'), maxBytes: 2 ** 30 }));
      engines.push(engine);
      return engine;
    };
    for (const cuts of [[], [2], [1, 3]]) {
      const stages = await pipelineOf(make, { path, layers: LAYERS }, cuts, settings);
      expect(await generate(stages, prompt, TOKENS), `cuts ${cuts}`).toEqual(whole);
    }
    await Promise.all(engines.map((engine) => engine.close()));
  });
});
