import { beforeAll, describe, expect, it } from 'vitest';
import { openVocabulary } from '../../src/worker/engine/llama/vocabulary.js';
import { stageplane } from '../cli/child.js';
import { Cluster } from '../e2e/cluster.js';
import { type ExactAnswer, exactAnswer } from '../e2e/exact-run.js';
import { afterFile } from '../support/after-file.js';
import { testLibrary } from '../worker/engine/llama/cut-model.js';
import { greedyTokens, WholeModel } from '../worker/engine/llama/whole-model.js';
import { findModel } from './find-model.js';

const LAYERS = 30;
const TOKENS = 64;
const settings = { microBatch: 16, contextLength: 512 };
/** Not for a chat: such a text has no end that comes soon. */
const prompt =
  'The lighthouse on the rocks was old, and the keeper had a story for every one of its stones. This is the first:';

const finished = afterFile();

describe('SmolLM2-135M-Instruct in EXACT mode, through orchestrator and agents', () => {
  const model = findModel();
  let cluster: Cluster;
  let whole: number[];
  let three: ExactAnswer;

  beforeAll(async () => {
    const opened = await openVocabulary(model);
    if (opened.kind === 'refused') throw new Error(opened.message);
    const ids = opened.vocabulary.tokenize(prompt, { parseSpecial: false });
    const options = { ...settings, flashAttention: false, threads: 1, tapped: false };
    whole = greedyTokens(new WholeModel(await testLibrary(), model, options), ids, TOKENS);
    expect(whole.some((token) => opened.vocabulary.endTokens.has(token))).toBe(false);
    opened.vocabulary.close();
    const agents = ['alpha', 'beta', 'gamma', 'delta', 'epsilon'];
    const agentFlags = ['--warm-workers', '1'];
    cluster = await Cluster.start(agents, { model, ownWorkers: true, agentFlags, finished });
  });

  it.each([
    [1, []],
    [2, [15]],
    [3, [10, 20]],
    [5, [1, 9, 17, 29]],
  ])('%i stages say the 64 tokens of the whole model', async (_, cuts) => {
    const answer = await exactAnswer(cluster, { model, layers: LAYERS, cuts, prompt, maxTokens: TOKENS, settings });
    expect(answer.tokenIds).toEqual(whole);
    expect(answer.fidelity).toBe('exact');
    expect(answer.text).toMatch(/[a-z]{3}/);
    if (cuts.length === 2) three = answer;
  });

  it('stageplane verify finds three stages identical', async () => {
    const { code, stdout } = await stageplane(['verify', String(three.runId), '--orchestrator', cluster.address]);
    console.info(stdout);
    expect(stdout).toMatch(/^identical: 64 of 64 tokens/);
    expect(code).toBe(0);
  });

  it('five stages draw the tokens of one by the same seed, and others by another', async () => {
    const sampling = { temperatureMillis: 700, topK: 40 };
    const drawn = (seed: bigint, cuts: readonly number[]) =>
      exactAnswer(cluster, {
        model,
        layers: LAYERS,
        cuts,
        prompt,
        maxTokens: TOKENS,
        sampling,
        settings: { ...settings, seed },
      });
    const { tokenIds } = await drawn(7n, [1, 9, 17, 29]);
    expect((await drawn(7n, [])).tokenIds).toEqual(tokenIds);
    expect((await drawn(8n, [])).tokenIds).not.toEqual(tokenIds);
    expect(tokenIds).not.toEqual(whole);
  });
});
