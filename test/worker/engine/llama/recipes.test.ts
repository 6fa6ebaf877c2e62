import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { modelCuts } from '../../../../src/gguf/slice/slice-range.js';
import { sliceRecipes } from '../../../../src/gguf/slice/slice-recipes.js';
import { findLlamaPackage } from '../../../../src/worker/engine/llama/llama-package.js';
import { pickToken } from '../../../../src/worker/engine/llama/pick-token.js';
import { llamaVerifiedArchitectures } from '../../../../src/worker/engine/llama/verified-architectures.js';
import { GREEDY } from '../../../../src/worker/engine/sampling.js';
import { smallArchitectures, writeArchitectureModel } from '../../../gguf/slice/architecture-model.js';
import { temporaryFolder } from '../../../support/temporary-folder.js';
import { CutModel, testLibrary, testModel } from './cut-model.js';
import { WholeModel } from './whole-model.js';

const folder = temporaryFolder(afterAll);
const settings = { microBatch: 16, contextLength: 256, flashAttention: false, threads: 1 };
/** Not a multiple of the micro-batch, and longer than any window of the small models. */
const prompt = Array.from({ length: 41 }, (_, index) => 3 + ((index * 7919 + index * index) % 300));
const TOKENS = 8;

interface Story {
  readonly tokens: readonly number[];
  readonly logits: readonly Float32Array[];
}

/** A prompt and the greedy tokens that follow it. */
function tell(run: (ids: readonly number[], position: number) => Float32Array): Story {
  const logits = [run(prompt, 0)];
  const tokens: number[] = [];
  for (let count = 0; count < TOKENS; count++) {
    tokens.push(pickToken(logits.at(-1)!, 0, GREEDY));
    logits.push(run(tokens.slice(-1), prompt.length + count));
  }
  return { tokens, logits };
}

/** The bits, since -0 equals 0 and no number equals NaN. */
function sameBits(own: Float32Array, whole: Float32Array | undefined, what: string): void {
  const bits = (values: Float32Array) => Buffer.from(values.buffer, values.byteOffset, values.byteLength);
  expect(whole, what).toBeDefined();
  expect(bits(own).equals(bits(whole!)), what).toBe(true);
}

describe.skipIf(findLlamaPackage().kind === 'refused')('slices compute what the whole model does, bit for bit', () => {
  test('every verified architecture has a small model here', () => {
    expect(Object.keys(smallArchitectures)).toEqual(expect.arrayContaining([...llamaVerifiedArchitectures]));
  });

  test.each(llamaVerifiedArchitectures)('%s, at every cut that its recipe allows and at all of them', async (name) => {
    const library = await testLibrary();
    const architecture = smallArchitectures[name as keyof typeof smallArchitectures];
    const path = await writeArchitectureModel(join(folder, `${name}.gguf`), name, architecture);
    const model = await testModel(path);
    const recipe = sliceRecipes.get(name)!;
    const whole = new WholeModel(library, path, { ...settings, tapped: false });
    const story = tell((ids, position) => whole.run(ids, position));
    expect(new Set(story.tokens).size, 'tokens of some variety').toBeGreaterThan(2);
    const tapped = new WholeModel(library, path, { ...settings, tapped: true });
    tapped.run(prompt, 0);

    const judged = modelCuts(recipe, model);
    const cuts = judged.kind === 'cuttable' ? judged.starts : [];
    expect(cuts.length).toBeGreaterThan(1);
    for (const where of [[], ...cuts.map((cut) => [cut]), cuts]) {
      const cut = await CutModel.open(library, model, recipe, where, folder, settings);
      cut.run(prompt, 0);
      for (const [stage, rows] of cut.boundaryRows.entries()) {
        sameBits(rows, tapped.layerRows.get(where[stage]! - 1), `rows at ${where[stage]} of cuts ${where}`);
      }
      cut.rewind();
      const own = tell((ids, position) => cut.run(ids, position));
      expect(own.tokens, `cuts ${where}`).toEqual(story.tokens);
      for (const [step, logits] of own.logits.entries()) sameBits(logits, story.logits[step], `${where}, step ${step}`);
      cut.close();
    }
  });
});
