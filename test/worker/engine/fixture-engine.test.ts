import { createHash } from 'node:crypto';
import { open, readFile, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openModel } from '../../../src/gguf/open-model.js';
import { stageTensors } from '../../../src/gguf/stage-tensors.js';
import { type TinyModelOptions, writeTinyModel } from '../../../src/gguf/tiny-model.js';
import { loadFixtureLayers } from '../../../src/worker/engine/fixture/load-fixture-layers.js';
import { SessionEngine } from '../../../src/worker/engine/session-engine.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { writeSparseModel } from '../fixtures/sparse-model.js';
import { generate, pipelineOf, stageOf, type TestModel } from './pipeline.js';
import { shardEngineContract } from './shard-engine-contract.js';

const folder = temporaryFolder(afterAll);

const make = () => new SessionEngine(loadFixtureLayers);
const LAYERS = 5;

async function tiny(name: string, options: TinyModelOptions = {}): Promise<TestModel> {
  const [path] = await writeTinyModel(join(folder, `${name}.gguf`), { layers: LAYERS, hidden: 32, ...options });
  return { path, layers: LAYERS };
}

shardEngineContract('fixture', { make, model: () => tiny('contract') });

describe('splitting changes no bit', () => {
  const cuts = [[], [1], [4], [2, 3], [1, 2, 3, 4]];
  test.each([
    ['untied', {}],
    ['tied', { tied: true }],
    ['of three shards', { shards: 3 }],
  ])('of a model that is %s', async (name, options) => {
    const model = await tiny(`split-${name}`, options);
    const prompt = [5, 4, 3, 2, 1, 0, 7];
    const recipe = { microBatch: 3 };
    const whole = await generate(await pipelineOf(make, model, [], recipe), prompt, 12);
    expect(new Set(whole).size).toBeGreaterThan(4);
    for (const cut of cuts) {
      expect(await generate(await pipelineOf(make, model, cut, recipe), prompt, 12), `cuts ${cut}`).toEqual(whole);
    }
  });
});

describe('the tokens depend on', () => {
  let model: TestModel;
  let tokens: number[];
  beforeAll(async () => {
    model = await tiny('depends');
    tokens = await generate(await pipelineOf(make, model, [2]), [1, 2, 3], 6);
  });

  test('nothing but the input: a second pipeline says the same', async () => {
    expect(await generate(await pipelineOf(make, model, [2]), [1, 2, 3], 6)).toEqual(tokens);
  });

  test('the order of the prompt', async () => {
    expect(await generate(await pipelineOf(make, model, [2]), [2, 1, 3], 6)).not.toEqual(tokens);
  });

  test('the position', async () => {
    expect(await generate(await pipelineOf(make, model, [2]), [1, 1, 1], 1)).not.toEqual(
      await generate(await pipelineOf(make, model, [2]), [1, 1], 1),
    );
  });

  test.each(['token_embd.weight', 'blk.0.attn_q.weight', 'blk.4.ffn_down.weight', 'output.weight'])(
    'the bytes of %s',
    async (name) => {
      const changed = await tiny(`changed-${name}`);
      await flipOneBit(changed.path, name);
      expect(await generate(await pipelineOf(make, changed, [2]), [1, 2, 3], 6)).not.toEqual(tokens);
    },
  );

  test('the embedding in the last stage too, when the head is tied to it', async () => {
    const [head, tail] = await pipelineOf(make, await tiny('tied-own', { tied: true }), [2], { sessions: 2 });
    const own = await generate([head!, tail!], [1, 2, 3], 6);
    const changed = await tiny('tied-changed', { tied: true });
    await flipOneBit(changed.path, 'token_embd.weight');
    const [, changedTail] = await pipelineOf(make, changed, [2]);
    expect(await generate([head!, changedTail!], [1, 2, 3], 6, '2')).not.toEqual(own);
  });

  test('the seed when the policy samples, and not when it is greedy', async () => {
    const drawn = async (recipe: object) => generate(await pipelineOf(make, model, [2], recipe), [1, 2, 3], 6);
    expect(await drawn({ seed: 2n })).toEqual(tokens);
    expect(await drawn({ seed: 2n, temperatureMillis: 700, topK: 1 })).toEqual(tokens);
    const sampled = await drawn({ seed: 2n, temperatureMillis: 700 });
    expect(sampled).not.toEqual(tokens);
    expect(await drawn({ seed: 2n, temperatureMillis: 700 })).toEqual(sampled);
    expect(await drawn({ seed: 3n, temperatureMillis: 700 })).not.toEqual(sampled);
  });
});

test('reads exactly its own tensors, in the order of the file', async () => {
  const model = await tiny('bytes');
  const opened = await openModel(model.path);
  if (opened.kind === 'refused') throw opened.error;
  const file = await readFile(model.path);
  for (const [start, end] of [
    [0, 2],
    [2, 3],
    [3, LAYERS],
  ] as const) {
    const engine = make();
    await engine.load(stageOf(model, start, end));
    const hash = createHash('sha256');
    let bytes = 0;
    for (const tensor of stageTensors(opened.model, start, end, { first: start === 0, last: end === LAYERS })) {
      hash.update(file.subarray(tensor.offset, tensor.offset + tensor.bytes));
      bytes += tensor.bytes;
    }
    expect(engine.footprint).toMatchObject({ bytesRead: bytes, bytesDigest: hash.digest('hex') });
    expect(engine.footprint!.deviceBytes).toBeGreaterThan(0);
  }
});

test('reports progress by bytes: never more than one report per 8 MiB', async () => {
  const path = join(folder, 'sparse.gguf');
  await writeSparseModel(path, { layers: 3, bytesPerLayer: 40 * 2 ** 20 });
  const reports: number[] = [];
  await make().load(stageOf({ path, layers: 3 }, 1, 2), { onProgress: ({ bytesDone }) => reports.push(bytesDone) });
  expect(reports).toEqual([0, 1, 2, 3, 4, 5].map((step) => step * 8 * 2 ** 20));
});

test('a load that is aborted between two chunks ends with CANCELLED', async () => {
  const path = join(folder, 'sparse.gguf');
  await writeSparseModel(path, { layers: 2, bytesPerLayer: 40 * 2 ** 20 });
  const abort = new AbortController();
  const { status } = await make().load(stageOf({ path, layers: 2 }, 0, 1), {
    signal: abort.signal,
    onProgress: ({ bytesDone }) => bytesDone > 0 && abort.abort(),
  });
  expect(status.code).toBe('CANCELLED');
});

test('a file that became shorter after its header was read is a failed load that names the tensor', async () => {
  const model = await tiny('shrinks');
  const opened = await openModel(model.path);
  if (opened.kind === 'refused') throw opened.error;
  await truncate(model.path, opened.model.tensors.at(-1)!.offset);
  const { status } = await make().load(stageOf(model, 4, LAYERS), { model: opened.model });
  expect(status.code).toBe('FAILED_PRECONDITION');
  expect(status.message).toContain(opened.model.tensors.at(-1)!.name);
});

test('a KV cache type that it cannot store is refused by name', async () => {
  const model = await tiny('contract');
  const { status } = await make().load(stageOf(model, 0, 1, { kvCacheType: 'Q8_0' }));
  expect(status).toMatchObject({ code: 'UNIMPLEMENTED', message: expect.stringContaining('kv_cache_type Q8_0') });
});

async function flipOneBit(path: string, name: string): Promise<void> {
  const opened = await openModel(path);
  if (opened.kind === 'refused') throw opened.error;
  const tensor = opened.model.tensors.find((candidate) => candidate.name === name)!;
  const file = await open(path, 'r+');
  const byte = new Uint8Array(1);
  await file.read(byte, 0, 1, tensor.offset + tensor.bytes - 1);
  byte[0]! ^= 1;
  await file.write(byte, 0, 1, tensor.offset + tensor.bytes - 1);
  await file.close();
}
