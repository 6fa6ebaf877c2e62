import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { GgufModel } from '../../../src/gguf/open-model.js';
import { modelCuts, needsSlice, sliceObstacle } from '../../../src/gguf/slice/slice-range.js';
import { sliceRecipes } from '../../../src/gguf/slice/slice-recipes.js';
import { openForSlices } from '../../../src/gguf/slice/write-slice.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { type SmallArchitecture, smallArchitectures, writeArchitectureModel } from './architecture-model.js';

const folder = temporaryFolder(afterAll);

async function modelOf(name: keyof typeof smallArchitectures, changes: Partial<SmallArchitecture> = {}) {
  const path = join(folder, `${name}-${changes.layers ?? 'usual'}.gguf`);
  const opened = await openForSlices(
    await writeArchitectureModel(path, name, { ...smallArchitectures[name], ...changes }),
  );
  if (opened.kind === 'refused') throw opened.error;
  return opened.model;
}

describe('gemma3', () => {
  const recipe = sliceRecipes.get('gemma3')!;
  let model: GgufModel;
  beforeAll(async () => {
    model = await modelOf('gemma3');
  });

  test('is cut at multiples of its window pattern alone', () => {
    expect(modelCuts(recipe, model)).toMatchObject({ starts: [6, 12, 18], rule: 'only at multiples of 6' });
    expect(sliceObstacle(recipe, model, { start: 6, end: 18 })).toBeUndefined();
    expect(sliceObstacle(recipe, model, { start: 18, end: 20 })).toBeUndefined();
  });

  test('a cut elsewhere is refused with the places where it could be', () => {
    expect(sliceObstacle(recipe, model, { start: 0, end: 10 })).toMatch(/at layer 10, only at multiples of 6/);
    expect(sliceObstacle(recipe, model, { start: 4, end: 20 })).toMatch(/at layer 4, only at multiples of 6/);
  });

  test('with the 62 layers of the model that llama.cpp treats differently is not cut at all', async () => {
    const large = await modelOf('gemma3', { layers: 62 });
    expect(modelCuts(recipe, large)).toMatchObject({
      kind: 'uncut',
      because: expect.stringMatching(/^62 layers are how/),
    });
    expect(sliceObstacle(recipe, large, { start: 0, end: 30 })).toMatch(/plan a single stage/);
    expect(sliceObstacle(recipe, large, { start: 0, end: 62 })).toBeUndefined();
  });
});

test('llama is cut anywhere', async () => {
  const model = await modelOf('llama');
  expect(modelCuts(sliceRecipes.get('llama')!, model)).toMatchObject({ starts: [1, 2, 3, 4, 5] });
});

describe('a whole model needs a slice', () => {
  const needs = async (name: keyof typeof smallArchitectures) => {
    const model = await modelOf(name);
    return needsSlice(sliceRecipes.get(name)!, model, { start: 0, end: model.numLayers });
  };

  test('when its own file cannot be fed with rows', async () => {
    expect(await needs('glm4moe')).toBe(true);
    expect(await needs('qwen3vl')).toBe(true);
  });

  test('and otherwise none', async () => {
    expect(await needs('llama')).toBe(false);
    expect(await needs('deepseek2')).toBe(false);
  });
});

test('a model with a window is not cut by a recipe that knows none', async () => {
  const keys = { 'attention.sliding_window': { type: 'uint32', value: 4096 } } as const;
  const model = await modelOf('qwen3', { layers: 7, keys });
  expect(sliceObstacle(sliceRecipes.get('qwen3')!, model, { start: 0, end: 3 })).toMatch(/attention window/);
  expect(sliceObstacle(sliceRecipes.get('qwen3')!, model, { start: 0, end: 7 })).toBeUndefined();
});

test('deepseek2 is refused where llama.cpp would take it for a lite model, and where it is one', async () => {
  const recipe = sliceRecipes.get('deepseek2')!;
  const large = await modelOf('deepseek2', { layers: 40 });
  expect(sliceObstacle(recipe, large, { start: 0, end: 27 })).toMatch(/cannot have a stage of 27 layers/);
  expect(sliceObstacle(recipe, large, { start: 13, end: 40 })).toMatch(/cannot have a stage of 27 layers/);
  expect(sliceObstacle(recipe, large, { start: 0, end: 20 })).toBeUndefined();
  expect(modelCuts(recipe, large)).toMatchObject({ refusedLengths: [{ layers: 26 }, { layers: 27 }] });
  const { 'attn_q_a.weight': _, ...lite } = smallArchitectures.deepseek2.tensors(0);
  const other = await modelOf('deepseek2', { layers: 9, tensors: () => lite });
  expect(sliceObstacle(recipe, other, { start: 0, end: 4 })).toMatch(/no blk.0.attn_q_a.weight/);
  const mixed = await modelOf('deepseek2', {
    layers: 8,
    tensors: (layer) => (layer === 3 ? lite : smallArchitectures.deepseek2.tensors(layer)),
  });
  expect(modelCuts(recipe, mixed)).toMatchObject({ starts: [1, 2, 4, 5, 6, 7] });
  expect(sliceObstacle(recipe, mixed, { start: 1, end: 3 })).toMatch(/at layer 3, only before a layer with attn_q_a/);
});
