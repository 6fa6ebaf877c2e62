import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { StageFaultReason } from '../../gen/stageplane/v1/run.js';
import { TextDoneReason, TextRefusalReason } from '../../gen/stageplane/v1/token_endpoint.js';
import { writeTinyModel } from '../../src/gguf/tiny-model.js';
import type { ChainModel } from '../worker/edge/stage-chain.js';
import { EndpointChain } from './endpoint-chain.js';
import type { WholeAnswer } from './endpoint-process.js';

let folder: string;
let model: ChainModel;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stageplane-tokens-model-'));
  const [modelPath] = await writeTinyModel(join(folder, 'tiny.gguf'), { layers: 4, hidden: 32 });
  model = { modelPath, totalLayers: 4, hiddenDim: 32 };
});
afterAll(() => rm(folder, { recursive: true }));

const prompts = ['a', 'eight by', 'nine bytes', 'a prompt of several pieces, naïve 日本 🦙', 'one that waits'];
/** The model's answer to it is longer than a reader may be behind: it waits, and nothing depends on who is faster. */
const ENDLESS = 'a';
const COUNT = 16;
const said = ({ text, tokenIds, done: { reason } }: WholeAnswer) => ({ text, tokenIds, reason });

test('one, two and three stages say the same text, alone and all at once', async () => {
  const byCut = [];
  for (const cuts of [[], [2], [1, 3]]) {
    const chain = await EndpointChain.start(model, cuts);
    const { endpoint } = chain;
    // One more than the stages have sessions.
    const together = await Promise.all(
      prompts.map((prompt, index) => endpoint.answer(`t${index}`, prompt, { maxTokens: COUNT })),
    );
    const alone = [];
    for (const [index, prompt] of prompts.entries()) {
      alone.push(said(await endpoint.answer(`a${index}`, prompt, { maxTokens: COUNT })));
    }
    expect(together.map(said)).toEqual(alone);
    byCut.push(alone);
    await chain.stop();
  }
  expect(byCut[1]).toEqual(byCut[0]);
  expect(byCut[2]).toEqual(byCut[0]);
  const decoded = byCut[0]!.map(({ tokenIds }) => Buffer.from(tokenIds.map((id) => id % 256)).toString('utf8'));
  expect(byCut[0]!.map(({ text }) => text)).toEqual(decoded);
});

describe('three stages', () => {
  let chain: EndpointChain;
  beforeAll(async () => {
    chain = await EndpointChain.start(model, [1, 3]);
  });
  afterAll(() => chain.stop());

  test('fill the context and say so', async () => {
    const { tokenIds, done } = await chain.endpoint.answer('full', 'x'.repeat(120));
    expect(done).toMatchObject({ reason: TextDoneReason.TEXT_DONE_REASON_CONTEXT_FULL, promptTokens: 120 });
    expect(tokenIds).toHaveLength(9);
    expect(done.firstTokenMicros).toBeGreaterThan(0n);
    expect(done.tokensPerSecondMillis).toBeGreaterThan(0n);
  });

  test('are spared a prompt that is too long, and nobody else notices', async () => {
    const other = chain.endpoint.answer('other', prompts[3]!, { maxTokens: COUNT });
    chain.endpoint.generate('long', 'x'.repeat(129));
    expect(await chain.endpoint.heard('refused', ({ requestId }) => requestId === 'long')).toMatchObject({
      reason: TextRefusalReason.TEXT_REFUSAL_REASON_PROMPT_TOO_LONG,
      actual: 129,
      allowed: 128,
    });
    expect((await other).tokenIds).toHaveLength(COUNT);
  });

  test('many cancelled answers leave room for others', async () => {
    const { endpoint } = chain;
    const wanted = said(await endpoint.answer('wanted', prompts[3]!, { maxTokens: COUNT }));
    const ids = Array.from({ length: 40 }, (_, index) => `cancelled-${index}`);
    for (const id of ids) {
      endpoint.generate(id, prompts[3]!);
      endpoint.send({ $case: 'cancel', value: { requestId: id, reason: 'a test' } });
    }
    for (const id of ids) {
      const done = await endpoint.heard('done', ({ requestId }) => requestId === id);
      expect(done.reason).toBe(TextDoneReason.TEXT_DONE_REASON_CANCELLED);
    }
    // In the middle of an answer, too.
    endpoint.generate('midway', ENDLESS);
    await endpoint.heard('delta', ({ requestId }) => requestId === 'midway');
    endpoint.send({ $case: 'cancel', value: { requestId: 'midway', reason: '' } });
    // As many as there are sessions: each must have been freed in every stage.
    const answers = [1, 2, 3, 4].map((index) => endpoint.answer(`after-${index}`, prompts[3]!, { maxTokens: COUNT }));
    for (const answer of await Promise.all(answers)) expect(said(answer)).toEqual(wanted);
  });

  test('continue a conversation, also one that goes back or was cancelled, as if from its beginning', async () => {
    const { endpoint } = chain;
    const conversation = 'c';
    const first = await endpoint.answer('c1', 'tell me something', { maxTokens: 4, conversation });
    expect(first.done.reusedTokens).toBe(0);
    const turns = ['tell me something else', 'tell him', 'tell him all of it now', 'tell him all of that now'];
    for (const [index, prompt] of turns.entries()) {
      if (index === 3) {
        endpoint.generate('c-cancelled', 'tell him all of what is known', { conversation });
        endpoint.send({ $case: 'cancel', value: { requestId: 'c-cancelled', reason: '' } });
      }
      const turn = await endpoint.answer(`c-turn-${index}`, prompt, { maxTokens: COUNT, conversation });
      const fresh = await endpoint.answer(`c-fresh-${index}`, prompt, { maxTokens: COUNT });
      expect(said(turn)).toEqual(said(fresh));
      expect(turn.done.reusedTokens).toBeGreaterThan(0);
      expect(fresh.done.reusedTokens).toBe(0);
    }
  });

  test('health says what is held: nothing, after all of that, but a resting conversation', async () => {
    const { endpoint } = chain;
    await endpoint.answer('kept', 'a', { maxTokens: 1, conversation: 'kept' });
    endpoint.send({ $case: 'endConversation', value: { conversation: 'c' } });
    // A session is free when every stage has said so, which no line tells; whoever asks finds out.
    let asked = 0n;
    const ask = () => {
      asked += 1n;
      endpoint.send({ $case: 'checkHealth', value: { sequence: asked } });
      return endpoint.heard('health', ({ sequence }) => sequence === asked);
    };
    let health = await ask();
    while (health.heldSessions > 1) health = await ask();
    expect(health).toMatchObject({ waitingPrompts: 0, runningAnswers: 0, heldSessions: 1 });
  });
});

test.each([0, 1, 2])('stage %i dies in the middle of an answer: a fault names the edge', async (victim) => {
  const chain = await EndpointChain.start(model, [1, 3], { contextLength: 4096 });
  const { endpoint, workers } = chain;
  endpoint.generate('cut', ENDLESS);
  await endpoint.heard('delta');
  workers[victim]!.child.kill('SIGKILL');
  const fault = await endpoint.heard('fault');
  expect(fault.reason).toBe(StageFaultReason.STAGE_FAULT_REASON_EDGE_CLOSED);
  expect(fault.message).toContain(`edge ${fault.edgeId} of run 7`);
  expect([1n, 4n]).toContain(fault.edgeId);
  const done = await endpoint.heard('done', ({ requestId }) => requestId === 'cut');
  expect(done).toMatchObject({ reason: TextDoneReason.TEXT_DONE_REASON_UNAVAILABLE, message: fault.message });
  endpoint.generate('late', 'a');
  expect(await endpoint.heard('refused')).toMatchObject({ reason: TextRefusalReason.TEXT_REFUSAL_REASON_NOT_READY });
  await chain.stop();
});

test('the endpoint is killed in the middle of its answers, and the next one finds the stages as new', async () => {
  const chain = await EndpointChain.start(model, [1, 3], { contextLength: 4096 });
  const prompt = prompts[3]!;
  const fresh = said(await chain.endpoint.answer('fresh', prompt, { maxTokens: COUNT }));
  for (let turn = 1; turn <= 20; turn++) {
    // One that is answered, one that is still read in, and one of which only its first pieces are.
    for (const [id, text] of [ENDLESS, 'x'.repeat(200), 'y'.repeat(4000)].entries()) {
      chain.endpoint.generate(`cut-${id}`, text, { conversation: `kept-${id}` });
    }
    await chain.endpoint.heard('delta', ({ requestId }) => requestId === 'cut-0');
    for (const worker of chain.workers) while ((await worker.usage()).heldTokens === 0n);
    await chain.replaceEndpoint(BigInt(turn) * 1000n);
    expect(said(await chain.endpoint.answer('again', prompt, { maxTokens: COUNT }))).toEqual(fresh);
  }
  chain.endpoint.generate('cut', ENDLESS, { conversation: 'kept' });
  await chain.endpoint.heard('delta', ({ requestId }) => requestId === 'cut');
  chain.endpoint.child.kill('SIGKILL');
  for (const worker of chain.workers) {
    // No line tells when a stage has let go; whoever asks finds out.
    while ((await worker.usage()).heldSessions > 0);
    expect(await worker.usage()).toEqual({ heldSessions: 0, heldTokens: 0n });
    expect(worker.kinds()).not.toContain('fault');
  }
  await chain.stop();
}, 180_000);

test.each([
  ['stdin closes', { code: null, signal: 'SIGKILL' }],
  ['it is told to close', { code: 0, signal: null }],
  ['SIGTERM comes', { code: 143, signal: null }],
])('it ends when %s, with its answers and its socket', async (way, end) => {
  const chain = await EndpointChain.start(model, [], { contextLength: 4096 });
  const { endpoint, folder: sockets } = chain;
  endpoint.generate('open', ENDLESS);
  await endpoint.heard('delta');
  endpoint.child.kill('SIGINT');
  if (way === 'stdin closes') endpoint.child.stdin.end();
  else if (end.code === 0) endpoint.send({ $case: 'close', value: { reason: 'a test' } });
  else endpoint.child.kill('SIGTERM');
  expect(await endpoint.ended).toEqual(end);
  const { reason } = await endpoint.heard('done');
  expect(reason).toBe(TextDoneReason.TEXT_DONE_REASON_UNAVAILABLE);
  expect(endpoint.events.some(({ $case }) => $case === 'stopped')).toBe(way === 'it is told to close');
  expect(existsSync(join(sockets, 'edge-1.sock'))).toBe(false);
  await chain.stop();
});
