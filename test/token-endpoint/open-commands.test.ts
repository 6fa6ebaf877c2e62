import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import type { EdgePlan } from '../../gen/stageplane/v1/plan.js';
import { StageFaultReason } from '../../gen/stageplane/v1/run.js';
import { type OpenTokenEndpoint, TextRefusalReason, TokenizerKind } from '../../gen/stageplane/v1/token_endpoint.js';
import { limits } from '../../src/core/limits.js';
import { writeGguf } from '../../src/gguf/write-gguf.js';
import { findLlamaPackage } from '../../src/worker/engine/llama/llama-package.js';
import { deadDisk } from '../support/dead-disk.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { openCommand } from './endpoint-chain.js';
import { EndpointProcess } from './endpoint-process.js';

const folder = temporaryFolder(afterAll);
const hasLibrary = findLlamaPackage().kind === 'found';

let endpoint: EndpointProcess;
const start = () => {
  endpoint = new EndpointProcess();
  return endpoint;
};
afterEach(async () => {
  endpoint.child.kill('SIGKILL');
  await endpoint.ended;
});

function command(change: Partial<OpenTokenEndpoint> = {}): OpenTokenEndpoint {
  const model = { modelPath: join(folder, 'nowhere.gguf'), totalLayers: 4, hiddenDim: 32 };
  // A socket of an endpoint that was killed stays.
  return { ...openCommand(model, mkdtempSync(join(folder, 's')), 1), ...change };
}

test('says hello first, with the tokenizers that it has', async () => {
  const hello = await start().heard('hello');
  expect(hello.protocol).toBe(1);
  expect(hello.tokenizers.includes(TokenizerKind.TOKENIZER_KIND_MODEL)).toBe(hasLibrary);
  expect(hello.tokenizers).toContain(TokenizerKind.TOKENIZER_KIND_BYTES);
});

test('ends with its orchestrator at once, although its disk has stopped to answer', async () => {
  const reading = deadDisk('pool');
  start();
  await endpoint.heard('hello');
  await reading();
  endpoint.child.stdin.end();
  expect(await endpoint.ended).toEqual({ code: null, signal: 'SIGKILL' });
});

const edge = (change: Partial<EdgePlan>): EdgePlan => ({ ...command().tokenIn!, ...change });

test.each<[string, string, Partial<OpenTokenEndpoint>]>([
  ['no settings', 'no settings', { settings: undefined }],
  ['no context', 'without context_length', { settings: { ...command().settings!, contextLength: 0 } }],
  ['no micro-batch', 'without micro_batch', { settings: { ...command().settings!, microBatch: 0 } }],
  ['no edge', 'no whole token_out edge', { tokenOut: undefined }],
  ['edges the wrong way round', 'EDGE_KIND_TOKEN_OUT as token_in', { tokenIn: command().tokenOut }],
  ['an edge of nobody', 'without a producer', { tokenIn: edge({ producer: undefined }) }],
  ['a long socket path', 'of 100 bytes', { inboundSocket: 'x'.repeat(limits.socketPathBytes + 1) }],
  ['no socket', 'of 0 bytes', { outboundSocket: '' }],
])('refuses an open command with %s', async (_, words, change) => {
  start().send({ $case: 'open', value: command(change) });
  const fault = await endpoint.heard('fault');
  expect(fault.reason).toBe(StageFaultReason.STAGE_FAULT_REASON_INVALID_DELIVERY);
  expect(fault.message).toContain(words);
});

test('refuses a tokenizer that it does not know', async () => {
  start().write(`${JSON.stringify({ open: { tokenizer: 'TOKENIZER_KIND_WORDS' } })}\n`);
  expect((await endpoint.heard('fault')).message).toContain('tokenizer');
});

test('a second open, a line of nonsense and a line without end are faults', async () => {
  start().send({ $case: 'open', value: command() });
  endpoint.send({ $case: 'open', value: command() });
  expect((await endpoint.heard('fault')).reason).toBe(StageFaultReason.STAGE_FAULT_REASON_CONFLICTING_DELIVERY);
  endpoint.child.kill('SIGKILL');
  for (const line of ['nonsense', `"${'x'.repeat(limits.tokenEndpointLineBytes)}"`]) {
    start().write(`${line}\n`);
    expect((await endpoint.heard('fault')).reason).toBe(StageFaultReason.STAGE_FAULT_REASON_INVALID_DELIVERY);
    endpoint.child.kill('SIGKILL');
  }
});

test('a prompt before the edges are connected is refused, and the endpoint goes on', async () => {
  start().send({ $case: 'open', value: command() });
  endpoint.generate('early', 'a');
  expect(await endpoint.heard('refused')).toMatchObject({
    requestId: 'early',
    reason: TextRefusalReason.TEXT_REFUSAL_REASON_NOT_READY,
  });
  endpoint.send({ $case: 'close', value: { reason: 'a test' } });
  expect(await endpoint.ended).toEqual({ code: 0, signal: null });
  expect(endpoint.events.some(({ $case }) => $case === 'fault')).toBe(false);
});

test('a socket that cannot be listened on is a fault of that edge', async () => {
  const inboundSocket = join(folder, 'no-socket');
  writeFileSync(inboundSocket, 'a file of somebody');
  start().send({ $case: 'open', value: command({ inboundSocket }) });
  expect(await endpoint.heard('fault')).toMatchObject({
    reason: StageFaultReason.STAGE_FAULT_REASON_WORKER_START_FAILED,
    edgeId: 2n,
  });
  expect(readFileSync(inboundSocket, 'utf8')).toBe('a file of somebody');
});

test.runIf(hasLibrary)('a model without a tokenizer, or none at all, is refused with its name', async () => {
  const tokenizer = TokenizerKind.TOKENIZER_KIND_MODEL;
  const bare = join(folder, 'bare.gguf');
  const metadata: Parameters<typeof writeGguf>[1]['metadata'] = [
    ['general.architecture', { type: 'string', value: 'llama' }],
    ['llama.block_count', { type: 'uint32', value: 1 }],
  ];
  await writeGguf(bare, { version: 3, metadata, tensors: [] });
  for (const [modelPath, words] of [
    [bare, 'has no tokenizer'],
    [join(folder, 'nowhere.gguf'), 'nowhere.gguf'],
  ] as const) {
    start().send({ $case: 'open', value: command({ tokenizer, modelPath }) });
    const fault = await endpoint.heard('fault');
    expect(fault).toMatchObject({ reason: StageFaultReason.STAGE_FAULT_REASON_MODEL_INVALID, edgeId: 0n });
    expect(fault.message).toContain(words);
    endpoint.child.kill('SIGKILL');
  }
});
