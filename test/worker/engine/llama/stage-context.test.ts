import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { sliceRecipes } from '../../../../src/gguf/slice/slice-recipes.js';
import { writeSlice } from '../../../../src/gguf/slice/write-slice.js';
import { writeTinyModel } from '../../../../src/gguf/tiny-model.js';
import { findLlamaPackage } from '../../../../src/worker/engine/llama/llama-package.js';
import { loadModel } from '../../../../src/worker/engine/llama/load-model.js';
import { StageContext } from '../../../../src/worker/engine/llama/stage-context.js';
import { temporaryFolder } from '../../../support/temporary-folder.js';
import { testLibrary, testModel } from './cut-model.js';

const folder = temporaryFolder(afterAll);
const WIDTH = 32;

/** Rows that look like activations; another `seed`, other rows. */
const rowsOf = (count: number, seed: number) =>
  Float32Array.from({ length: count * WIDTH }, (_, index) => Math.sin(seed + index * 1.7));

describe.skipIf(findLlamaPackage().kind === 'refused')('a stage context', () => {
  let slice: string;
  let lastSlice: string;
  beforeAll(async () => {
    const [path] = await writeTinyModel(join(folder, 'model.gguf'), { layers: 4, hidden: WIDTH });
    slice = join(folder, 'slice.gguf');
    lastSlice = join(folder, 'last.gguf');
    const model = await testModel(path);
    const recipe = sliceRecipes.get('llama')!;
    await writeSlice(slice, { model, range: { start: 1, end: 3 }, recipe });
    await writeSlice(lastSlice, { model, range: { start: 3, end: 4 }, recipe });
  });

  const open: StageContext[] = [];
  afterEach(() => {
    for (const context of open.splice(0)) context.free();
  });
  async function context(sequences: number, contextLength = 64, output: 'rows' | 'logits' = 'rows') {
    const library = await testLibrary();
    const loaded = loadModel(library, output === 'rows' ? slice : lastSlice);
    if (loaded.kind !== 'loaded') throw new Error(JSON.stringify(loaded));
    const opened = new StageContext(library, loaded.model, {
      output,
      contextLength,
      sequences,
      microBatch: 8,
      flashAttention: false,
      threads: 1,
      positionsPerRow: 1,
    });
    open.push(opened);
    return opened;
  }

  test('gives the same bits for a sequence whatever others hold, and however they take turns', async () => {
    const alone = await context(1);
    const expected = [alone.run(0, 0, rowsOf(8, 1)), alone.run(0, 8, rowsOf(3, 2)), alone.run(0, 11, rowsOf(1, 3))];
    const shared = await context(3);
    shared.run(2, 0, rowsOf(8, 7));
    const first = shared.run(1, 0, rowsOf(8, 1));
    shared.run(2, 8, rowsOf(8, 8));
    shared.run(0, 0, rowsOf(5, 9));
    const second = shared.run(1, 8, rowsOf(3, 2));
    shared.truncate(2, 4);
    const third = shared.run(1, 11, rowsOf(1, 3));
    expect([first, second, third]).toEqual(expected);
  });

  test('has room for all that each of its sequences may hold', async () => {
    const full = await context(2, 256);
    for (const sequence of [0, 1]) {
      for (let position = 0; position < 256; position += 8) full.run(sequence, position, rowsOf(8, position));
    }
    expect(() => full.run(0, 256, rowsOf(1, 0))).toThrow('no room');
  });

  test('goes on after a run that failed', async () => {
    const twice = await context(1, 256);
    for (let position = 0; position < 256; position += 8) twice.run(0, position, rowsOf(8, position));
    expect(() => twice.run(0, 256, rowsOf(1, 0))).toThrow('no room');
    expect(twice.truncate(0, 248)).toBe(true);
    expect(twice.run(0, 248, rowsOf(8, 1))).toHaveLength(8 * WIDTH);
  });

  test('has the logits of every token at one place, of which it makes one view', async () => {
    const last = await context(1, 64, 'logits');
    const first = last.run(0, 0, rowsOf(3, 1));
    const copy = first.slice();
    expect(last.run(0, 3, rowsOf(1, 2))).toBe(first);
    expect(first).not.toEqual(copy);
  });

  test('gives the rows of the layer wherever it stands among the tensors of a run', async () => {
    const mixed = await context(1);
    const single = [mixed.run(0, 0, rowsOf(1, 1)), mixed.run(0, 1, rowsOf(1, 2))];
    mixed.truncate(0, 0);
    const together = mixed.run(0, 0, Float32Array.of(...rowsOf(1, 1), ...rowsOf(1, 2)));
    expect(single.flatMap((row) => [...row])).toHaveLength(together.length);
    mixed.truncate(0, 0);
    expect([mixed.run(0, 0, rowsOf(1, 1)), mixed.run(0, 1, rowsOf(1, 2))]).toEqual(single);
  });
});
