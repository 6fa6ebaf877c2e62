import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openLlamaLibrary } from '../../src/worker/engine/llama/llama-library.js';
import { llamaLoader } from '../../src/worker/engine/llama/load-llama-layers.js';
import { openVocabulary, type Vocabulary } from '../../src/worker/engine/llama/vocabulary.js';
import { SessionEngine } from '../../src/worker/engine/session-engine.js';
import { greedyTokens, WholeModel } from '../worker/engine/llama/whole-model.js';
import { generate, pipelineOf } from '../worker/engine/pipeline.js';
import { findModel } from './find-model.js';

const LAYERS = 30;
const TOKENS = 64;
const settings = { microBatch: 16, contextLength: 512, flashAttention: false, threads: 1 };
const question =
  '<|im_start|>user\nTell me in two sentences why the sky is blue, and why it is red in the evening.<|im_end|>\n' +
  '<|im_start|>assistant\n';

describe('SmolLM2-135M-Instruct in stages of llama.cpp', () => {
  const path = findModel();
  const folder = mkdtempSync(join(tmpdir(), 'stageplane-smollm2-'));
  const slices = { folder, maxBytes: 2 ** 30 };
  const engines: SessionEngine[] = [];
  let vocabulary: Vocabulary;
  let prompt: number[];
  let whole: number[];

  beforeAll(async () => {
    const library = await openLlamaLibrary();
    if (library.kind === 'refused') throw new Error(library.message);
    const opened = await openVocabulary(path);
    if (opened.kind === 'refused') throw new Error(opened.message);
    vocabulary = opened.vocabulary;
    prompt = vocabulary.tokenize(question, { parseSpecial: true });
    const model = new WholeModel(library, path, { ...settings, tapped: false });
    whole = greedyTokens(model, prompt, TOKENS);
  });
  afterAll(async () => {
    await Promise.all(engines.map((engine) => engine.close()));
    vocabulary.close();
    rmSync(folder, { recursive: true });
  });

  it('the prompt is longer than a micro-batch, and the answer is a text', () => {
    expect(prompt.length).toBeGreaterThan(settings.microBatch);
    expect(vocabulary.detokenize(whole)).toMatch(/sky/);
    expect(vocabulary.endTokens.size).toBeGreaterThan(0);
  });

  it.each([
    [1, []],
    [2, [15]],
    [3, [10, 20]],
    [5, [1, 9, 17, 29]],
  ])('%i stages say the same 64 tokens as the whole model', async (_, cuts) => {
    const make = () => {
      const engine = new SessionEngine(llamaLoader(slices));
      engines.push(engine);
      return engine;
    };
    const stages = await pipelineOf(make, { path, layers: LAYERS }, cuts, settings);
    expect(await generate(stages, prompt, TOKENS)).toEqual(whole);
  });
});
