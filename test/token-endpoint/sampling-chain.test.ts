import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SamplingPolicy } from '../../gen/stageplane/v1/plan.js';
import { type AnswerSampling, type GenerateText, TextDoneReason } from '../../gen/stageplane/v1/token_endpoint.js';
import { writeTinyModel } from '../../src/gguf/tiny-model.js';
import { findLlamaPackage } from '../../src/worker/engine/llama/llama-package.js';
import { SLICE_FOLDER } from '../../src/worker/engine/llama/slice-settings.js';
import type { ChainModel } from '../worker/edge/stage-chain.js';
import { EndpointChain } from './endpoint-chain.js';
import type { WholeAnswer } from './endpoint-process.js';

let folder: string;
let model: ChainModel;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stageplane-sampling-'));
  process.env[SLICE_FOLDER] = join(folder, 'slices');
  const [modelPath] = await writeTinyModel(join(folder, 'tiny.gguf'), { layers: 4, hidden: 64 });
  model = { modelPath, totalLayers: 4, hiddenDim: 64 };
});
afterAll(async () => {
  delete process.env[SLICE_FOLDER];
  await rm(folder, { recursive: true });
});

const PROMPT = 'the tin lantern of the old lighthouse';
const maxTokens = 14;
const said = ({ text, tokenIds }: WholeAnswer) => ({ text, tokenIds });

function sampled(policy: Partial<SamplingPolicy>, seed = 7n): { sampling: AnswerSampling } {
  return { sampling: { policy: SamplingPolicy.create(policy), seed } };
}

/** As different from each other as can be; the last two depend on the prompt, or on the answer. */
const ways: Record<string, Partial<GenerateText>> = {
  planned: {},
  hot: sampled({ temperatureMillis: 1200 }),
  other: sampled({ temperatureMillis: 1200 }, 8n),
  narrow: sampled({ temperatureMillis: 1200, topK: 20, topPMillis: 800, minPMillis: 20 }),
  stammering: sampled({ repeatPenaltyMillis: 150, repeatLastN: 12 }),
  varied: sampled({ temperatureMillis: 900, presencePenaltyMillis: 2000, frequencyPenaltyMillis: -500 }),
};

const engines = ['fixture', ...(findLlamaPackage().kind === 'found' ? ['llama.cpp'] : [])];

describe.each(engines)('stages of %s', (engine) => {
  const start = (cuts: readonly number[], settings = {}) => EndpointChain.start(model, cuts, { engine, ...settings });
  const alone: Record<string, ReturnType<typeof said>> = {};

  test('pick every answer as it asks, and again the same', async () => {
    const chain = await start([]);
    for (const [name, way] of Object.entries(ways)) {
      alone[name] = said(await chain.endpoint.answer(name, PROMPT, { maxTokens, ...way }));
    }
    const answers = Object.values(alone).map(({ tokenIds }) => tokenIds.join(' '));
    expect(new Set(answers).size).toBe(answers.length);
    for (const [name, way] of Object.entries(ways)) {
      expect(said(await chain.endpoint.answer(`${name} again`, PROMPT, { maxTokens, ...way }))).toEqual(alone[name]);
    }
    await chain.stop();
  });

  test.each([[[]], [[2]], [[1, 3]]])('cut at %j give all of them at once what each gets alone', async (cuts) => {
    const chain = await start(cuts);
    const together = Object.entries(ways).map(async ([name, way]) => {
      const answer = await chain.endpoint.answer(name, PROMPT, { maxTokens, ...way });
      return [name, said(answer)] as const;
    });
    expect(Object.fromEntries(await Promise.all(together))).toEqual(alone);
    await chain.stop();
  });

  test('keep nothing of an answer for the next one of its conversation', async () => {
    const chain = await start([1, 3]);
    const { endpoint } = chain;
    const conversation = 'c';
    for (const name of ['hot', 'stammering', 'planned', 'varied', 'planned', 'narrow']) {
      const id = `${name} ${endpoint.events.length}`;
      const answer = await endpoint.answer(id, PROMPT, { maxTokens, conversation, ...ways[name] });
      expect(said(answer)).toEqual(alone[name]);
    }
    // Ended in the middle, it leaves nothing behind either.
    endpoint.generate('cancelled', PROMPT, { maxTokens: 60, conversation, ...ways.hot });
    await endpoint.heard('delta', ({ requestId }) => requestId === 'cancelled');
    endpoint.send({ $case: 'cancel', value: { requestId: 'cancelled', reason: 'enough' } });
    expect(said(await endpoint.answer('after', PROMPT, { maxTokens, conversation }))).toEqual(alone.planned);
    await chain.stop();
  });

  test('end an answer before a stop text, and are free for the next one', async () => {
    const chain = await start([2], { sessions: 1 });
    const { endpoint } = chain;
    const { text, tokenIds } = alone.hot!;
    // From the middle of the answer, over the end of a token.
    const stop = text.slice(Math.floor(text.length / 2), Math.floor(text.length / 2) + 3);
    const cut = await endpoint.answer('cut', PROMPT, { maxTokens, stop: ['never said', stop], ...ways.hot });
    expect(cut.text).toBe(text.slice(0, text.indexOf(stop)));
    expect(cut.done.reason).toBe(TextDoneReason.TEXT_DONE_REASON_STOP_SEQUENCE);
    expect(cut.done.generatedTokens).toBe(cut.tokenIds.length);
    expect(cut.tokenIds).toEqual(tokenIds.slice(0, cut.tokenIds.length));
    expect(cut.tokenIds.length).toBeLessThan(tokenIds.length);
    expect(said(await endpoint.answer('next', PROMPT, { maxTokens, ...ways.hot }))).toEqual(alone.hot);
    await chain.stop();
  });

  test('refuse what is out of its range, and go on', async () => {
    const chain = await start([2]);
    const { endpoint } = chain;
    const bad: [string, Partial<GenerateText>, string][] = [
      ['share', sampled({ topPMillis: 1001 }), 'top_p_millis is 1001: ask for 0 to 1000'],
      ['stop', { stop: [''] }, 'stop[0] is empty'],
      ['none', { sampling: { policy: undefined, seed: 1n } }, 'without a policy'],
    ];
    for (const [id, more, words] of bad) {
      endpoint.generate(id, PROMPT, more);
      const refused = await endpoint.heard('refused', ({ requestId }) => requestId === id);
      expect(refused.message).toContain(words);
    }
    expect(said(await endpoint.answer('next', PROMPT, { maxTokens }))).toEqual(alone.planned);
    await chain.stop();
  });
});
