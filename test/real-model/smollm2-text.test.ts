import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { TextDoneReason } from '../../gen/stageplane/v1/token_endpoint.js';
import { SLICE_FOLDER } from '../../src/worker/engine/llama/slice-settings.js';
import { EndpointChain } from '../token-endpoint/endpoint-chain.js';
import { findModel } from './find-model.js';

const question =
  '<|im_start|>user\nTell me in two sentences why the sky is blue, and why it is red in the evening.<|im_end|>\n' +
  '<|im_start|>assistant\n';
const followUp = '<|im_end|>\n<|im_start|>user\nAnd at night?<|im_end|>\n<|im_start|>assistant\n';

const folder = mkdtempSync(join(tmpdir(), 'stageplane-smollm2-text-'));
process.env[SLICE_FOLDER] = join(folder, 'slices');
afterAll(() => {
  delete process.env[SLICE_FOLDER];
  rmSync(folder, { recursive: true });
});

/** The text of an answer and of a second turn, from worker processes of `cuts`. */
async function converse(cuts: readonly number[]) {
  const model = { modelPath: findModel(), totalLayers: 30, hiddenDim: 576 };
  const chain = await EndpointChain.start(model, cuts, { engine: 'llama.cpp', microBatch: 16, contextLength: 512 });
  const { endpoint } = chain;
  const more = { maxTokens: 64, parseSpecial: true, conversation: 'c' };
  const first = await endpoint.answer('1', question, more);
  const second = await endpoint.answer('2', `${question}${first.text}${followUp}`, more);
  const chat = { maxTokens: 8, conversation: 'm' };
  const asked = [{ role: 'user', content: 'Why is the sky blue?' }];
  const third = await endpoint.answer('3', '', { ...chat, messages: asked });
  const messages = [...asked, { role: 'assistant', content: third.text }, { role: 'user', content: 'And at night?' }];
  const fourth = await endpoint.answer('4', '', { ...chat, messages });
  await chain.stop();
  return { first, second, third, fourth };
}

it('three stage processes and a token endpoint say the same text as one stage', async () => {
  const one = await converse([]);
  const three = await converse([10, 20]);
  console.info(JSON.stringify({ one: figures(one), three: figures(three), text: three.first.text }));
  expect(three.first.text).toBe(one.first.text);
  expect(three.second.text).toBe(one.second.text);
  expect(three.third.text).toBe(one.third.text);
  expect(three.fourth.text).toBe(one.fourth.text);
  // The system's message that the template adds, too.
  expect(one.fourth.done.reusedTokens).toBeGreaterThanOrEqual(one.third.done.promptTokens);
  expect(one.first.text).toMatch(/sky/);
  expect(one.first.done.reason).not.toBe(TextDoneReason.TEXT_DONE_REASON_UNSPECIFIED);
  expect(one.second.done.reusedTokens).toBeGreaterThan(one.first.done.promptTokens);
});

function figures({ first, second, third, fourth }: Awaited<ReturnType<typeof converse>>) {
  return [first, second, third, fourth].map(({ done }) => ({
    promptTokens: done.promptTokens,
    reusedTokens: done.reusedTokens,
    generatedTokens: done.generatedTokens,
    firstTokenMillis: Number(done.firstTokenMicros) / 1000,
    tokensPerSecond: Number(done.tokensPerSecondMillis) / 1000,
  }));
}
