import { readdir, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TinyModelOptions, writeTinyModel } from '../../../../src/gguf/tiny-model.js';
import type { BoundaryBundle } from '../../../../src/worker/engine/boundary-bundle.js';
import { loadFixtureLayers } from '../../../../src/worker/engine/fixture/load-fixture-layers.js';
import { findLlamaPackage } from '../../../../src/worker/engine/llama/llama-package.js';
import { llamaLoader } from '../../../../src/worker/engine/llama/load-llama-layers.js';
import type { Recipe } from '../../../../src/worker/engine/recipe.js';
import { SessionEngine } from '../../../../src/worker/engine/session-engine.js';
import { PrefillRequest } from '../../../../src/worker/engine/steps.js';
import { smallArchitectures, writeArchitectureModel } from '../../../gguf/slice/architecture-model.js';
import { temporaryFolder } from '../../../support/temporary-folder.js';
import { generate, pipelineOf, stageOf, type TestModel } from '../pipeline.js';
import { shardEngineContract } from '../shard-engine-contract.js';

const folder = temporaryFolder(afterAll);
const slices = { folder: join(folder, 'slices'), maxBytes: 2 ** 30 };
const made: SessionEngine[] = [];
const make = () => {
  const engine = new SessionEngine(llamaLoader(slices));
  made.push(engine);
  return engine;
};
afterAll(() => Promise.all(made.map((engine) => engine.close())));

const LAYERS = 5;
const prompt = [1, 270, 301, 262, 299, 411, 280];

async function tiny(name: string, options: TinyModelOptions = {}): Promise<TestModel> {
  const [path] = await writeTinyModel(join(folder, `${name}.gguf`), { layers: LAYERS, hidden: 32, ...options });
  return { path, layers: LAYERS };
}

describe.skipIf(findLlamaPackage().kind === 'refused')('engine llama.cpp', () => {
  shardEngineContract('llama.cpp', { make, model: () => tiny('contract') });

  describe('splitting changes no token', () => {
    test.each([
      ['untied', {}, {}],
      ['tied', { tied: true }, {}],
      ['of three shards', { shards: 3 }, {}],
      ['run with flash attention', {}, { flashAttention: true }],
      ['sampled', {}, { temperatureMillis: 900, topK: 40, seed: 11n }],
    ] satisfies [string, TinyModelOptions, Partial<Recipe>][])(
      'of a model that is %s',
      async (name, options, settings) => {
        const model = await tiny(`split-${name}`, options);
        const recipe = { ...settings, microBatch: 3, contextLength: 64 };
        const whole = await generate(await pipelineOf(make, model, [], recipe), prompt, 12);
        expect(new Set(whole).size).toBeGreaterThan(4);
        for (const cut of [[1], [4], [2, 3], [1, 2, 3, 4]]) {
          expect(await generate(await pipelineOf(make, model, cut, recipe), prompt, 12), `cuts ${cut}`).toEqual(whole);
        }
      },
    );
  });

  test('a stage computes with as many threads as it is told', async () => {
    const model = await tiny('threads');
    const recipe = { contextLength: 64, threads: 2 };
    // Two threads that meet at every operation crawl on a busy machine, so this is short.
    const whole = await generate(await pipelineOf(make, model, [], recipe), prompt, 1);
    expect(await generate(await pipelineOf(make, model, [3], recipe), prompt, 1)).toEqual(whole);
  });

  describe('several conversations in the same stages', () => {
    const recipe = { sessions: 3, contextLength: 64, microBatch: 4 };
    let model: TestModel;
    beforeAll(async () => {
      model = await tiny('sessions');
    });

    test('say what each says alone, however they take turns', async () => {
      const prompts = [prompt, prompt.toReversed(), [1, 300, 300]];
      const alone: number[][] = [];
      for (const each of prompts) alone.push(await generate(await pipelineOf(make, model, [2], recipe), each, 8));
      const shared = await pipelineOf(make, model, [2], recipe);
      const together = await Promise.all(prompts.map((each, index) => generate(shared, each, 8, `session ${index}`)));
      expect(together).toEqual(alone);
      expect(new Set(alone.map(String)).size).toBe(3);
    });

    test('come and go more often than there are rooms', async () => {
      const stages = await pipelineOf(make, model, [2], recipe);
      const first = await generate(stages, prompt, 4, 'first');
      for (let round = 0; round < 7; round++) {
        expect(await generate(stages, prompt, 4, `round ${round}`)).toEqual(first);
        for (const stage of stages) stage.release(`round ${round}`);
      }
    });
  });

  test('positions that are taken back leave no trace in the rows', async () => {
    const engine = make();
    await engine.load(stageOf(await tiny('back'), 0, 3, { contextLength: 64, sessions: 2 }));
    const run = async (tokenIds: number[], sessionId: string, at: number, step: number) => {
      const fields = { sessionId, routeEpoch: 1, position: at, idempotencyStep: step, tokenIds };
      const cacheExpectation = at === 0 ? 'NONE' : 'EXPECT_HIT';
      const { output } = await engine.prefill(new PrefillRequest({ ...fields, cacheExpectation }));
      return (output as BoundaryBundle).tensors[0]!.data;
    };
    await run([1, 270, 301], 'straight', 0, 0);
    const straight = await run([262, 299], 'straight', 3, 1);
    await run([1, 270, 301, 400, 401, 402], 'back', 0, 0);
    expect(await run([262, 299], 'back', 3, 1)).toEqual(straight);
  });

  test('a footprint has the bytes and the digest that every engine gives for the stage', async () => {
    const model = await tiny('footprint', { shards: 2 });
    for (const [start, end] of [
      [0, 2],
      [2, LAYERS],
      [0, LAYERS],
    ] as const) {
      const [own, fixture] = [make(), new SessionEngine(loadFixtureLayers)];
      await own.load(stageOf(model, start, end));
      await fixture.load(stageOf(model, start, end));
      const { bytesRead, bytesDigest } = fixture.footprint!;
      expect(own.footprint).toMatchObject({ bytesRead, bytesDigest });
    }
  });

  test('a second load of a stage takes the slice that the first one left', async () => {
    const model = await tiny('again');
    const count = async () => (await readdir(slices.folder)).filter((file) => file.endsWith('.gguf')).length;
    const first = make();
    await first.load(stageOf(model, 1, 3));
    const before = await count();
    const second = make();
    await second.load(stageOf(model, 1, 3));
    expect(await count()).toBe(before);
    expect(second.footprint!.bytesDigest).toBe(first.footprint!.bytesDigest);
    await utimes(model.path, new Date(0), new Date(0));
    await make().load(stageOf(model, 1, 3));
    expect(await count()).toBe(before + 1);
  });

  test('a load that is ended while the library reads the slice answers CANCELLED and lets go of it', async () => {
    const own = { ...slices, folder: join(folder, 'ended') };
    const engine = new SessionEngine(llamaLoader(own));
    let sliced = false;
    const { status } = await engine.load(stageOf(await tiny('ended'), 1, 4), {
      onProgress: ({ bytesDone, bytesTotal }) => {
        sliced = bytesDone === bytesTotal;
      },
      signal: {
        get aborted() {
          return sliced;
        },
      },
    });
    expect(status.code).toBe('CANCELLED');
    expect(await readdir(join(own.folder, 'in-use'))).toEqual([]);
  });

  test('a stage that is the whole model is loaded from the file itself', async () => {
    const own = { ...slices, folder: join(folder, 'no-slices') };
    const engine = new SessionEngine(llamaLoader(own));
    made.push(engine);
    expect((await engine.load(stageOf(await tiny('single'), 0, LAYERS))).status.code).toBe('OK');
    await expect(readdir(own.folder)).rejects.toThrow('ENOENT');
  });

  test('a closed engine lets go of its slice and can load another stage', async () => {
    const own = { ...slices, folder: join(folder, 'closed') };
    const engine = new SessionEngine(llamaLoader(own));
    const model = await tiny('closed');
    await engine.load(stageOf(model, 0, 2));
    expect(await readdir(join(own.folder, 'in-use'))).toHaveLength(1);
    await engine.close();
    expect(await readdir(join(own.folder, 'in-use'))).toEqual([]);
    expect(engine.health().serving).toBe(false);
    expect((await engine.load(stageOf(model, 2, 4))).status.code).toBe('OK');
    await engine.close();
  });

  describe('refuses', () => {
    const refusal = async (model: TestModel, end: number, recipe: Partial<Recipe> = {}) =>
      (await make().load(stageOf(model, 0, end, recipe))).status;

    test.each([
      ['a KV cache type', { kvCacheType: 'Q8_0' }, 'kv_cache_type Q8_0'],
      ['a device', { device: 'cuda:0' }, 'no device "cuda:0"'],
      ['more sessions than the library can hold', { sessions: 300 }, 'sessions is 300'],
    ] satisfies [string, Partial<Recipe>, string][])('%s that it cannot honour', async (_, recipe, words) => {
      const status = await refusal(await tiny('refused'), 2, recipe);
      expect(status).toMatchObject({ code: 'UNIMPLEMENTED', message: expect.stringContaining(words) });
    });

    test('an architecture without a verified recipe, and names those it has', async () => {
      const path = await writeArchitectureModel(join(folder, 'unknown.gguf'), 'starcoder2', smallArchitectures.llama);
      const status = await refusal({ path, layers: 6 }, 2);
      expect(status).toMatchObject({
        code: 'UNIMPLEMENTED',
        message: expect.stringMatching(/starcoder2.*llama, qwen2/),
      });
    });

    test('an architecture whose recipe did not prove right', async () => {
      const path = await writeArchitectureModel(join(folder, 'gemma2.gguf'), 'gemma2', smallArchitectures.gemma2);
      const status = await refusal({ path, layers: 8 }, 2);
      expect(status).toMatchObject({ code: 'UNIMPLEMENTED', message: expect.stringContaining('architecture gemma2') });
    });

    test('a cut where the architecture has none', async () => {
      const path = await writeArchitectureModel(join(folder, 'gemma3.gguf'), 'gemma3', smallArchitectures.gemma3);
      const status = await refusal({ path, layers: 20 }, 4);
      expect(status).toMatchObject({ code: 'UNIMPLEMENTED', message: expect.stringContaining('at layer 4') });
    });

    test('a header that does not say where cuts may be', async () => {
      const keys = { 'attention.sliding_window_pattern': { type: 'string', value: 'often' } } as const;
      const odd = { ...smallArchitectures.gemma3, keys };
      const path = await writeArchitectureModel(join(folder, 'odd.gguf'), 'gemma3', odd);
      const status = await refusal({ path, layers: 20 }, 6);
      expect(status).toMatchObject({
        code: 'INVALID_ARGUMENT',
        message: expect.stringContaining('sliding_window_pattern'),
      });
    });

    test('a model that the library cannot load, in its words', async () => {
      const { 'ffn_up.weight': _, ...tensors } = smallArchitectures.llama.tensors();
      const path = await writeArchitectureModel(join(folder, 'lacking.gguf'), 'llama', {
        layers: 6,
        tensors: () => tensors,
      });
      const status = await refusal({ path, layers: 6 }, 2);
      expect(status).toMatchObject({ code: 'FAILED_PRECONDITION', message: expect.stringContaining('ffn_up') });
    });

    test('a slice for which the folder has no room', async () => {
      const engine = new SessionEngine(llamaLoader({ folder: join(folder, 'small'), maxBytes: 1000 }));
      const { status } = await engine.load(stageOf(await tiny('no-room'), 0, 2));
      expect(status).toMatchObject({
        code: 'FAILED_PRECONDITION',
        message: expect.stringContaining('may hold 1000 bytes'),
      });
    });
  });
});
