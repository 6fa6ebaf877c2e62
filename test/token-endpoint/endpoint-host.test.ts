import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { StageFaultReason } from '../../gen/stageplane/v1/run.js';
import {
  GenerateText,
  type TextDone,
  TextDoneReason,
  type TextRefused,
} from '../../gen/stageplane/v1/token_endpoint.js';
import { defaultWorkerTimings } from '../../src/agent/worker-timings.js';
import { limits } from '../../src/core/limits.js';
import { writeTinyModel } from '../../src/gguf/tiny-model.js';
import { EndpointHost, type EndpointHostOptions } from '../../src/token-endpoint/endpoint-host.js';
import type { EndpointFault } from '../../src/token-endpoint/open-token-edges.js';
import { type ChainModel, stageCommand } from '../worker/edge/stage-chain.js';
import { WorkerProcess, workerMain } from '../worker/worker-process.js';
import { openCommand } from './endpoint-chain.js';

/** The model's answer to it is longer than a reader may be behind: it waits, and nothing depends on who is faster. */
const ENDLESS = 'a';

let folder: string;
let model: ChainModel;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stageplane-host-'));
  const [modelPath] = await writeTinyModel(join(folder, 'tiny.gguf'), { layers: 4, hidden: 32 });
  model = { modelPath, totalLayers: 4, hiddenDim: 32 };
});
afterAll(() => rm(folder, { recursive: true }));

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(cleanups.splice(0).map((cleanup) => cleanup()));
});

/** A host whose words are promises. */
function startHost(options: Partial<EndpointHostOptions> = {}) {
  let ready!: () => void;
  let lost!: (fault: EndpointFault) => void;
  const wasReady = new Promise<void>((resolve) => {
    ready = resolve;
  });
  const wasLost = new Promise<EndpointFault>((resolve) => {
    lost = resolve;
  });
  const host = new EndpointHost({ ready, lost, healthy: () => {} }, { timings: defaultWorkerTimings, ...options });
  cleanups.push(() => host.close('the test is over'));
  return { host, wasReady, wasLost };
}

/** A ready host and the one stage that it speaks to. */
async function startRun() {
  const started = startHost();
  const sockets = await mkdtemp(join(folder, 's'));
  const worker = new WorkerProcess(workerMain);
  cleanups.push(async () => {
    worker.child.kill('SIGKILL');
    await worker.ended;
  });
  const stage = { folder: sockets, index: 0, stageCount: 1, layers: [0, 4] as [number, number] };
  worker.send({ $case: 'prepare', value: stageCommand(model, stage, { contextLength: 4096 }) });
  started.host.open(openCommand(model, sockets, 1, { contextLength: 4096 }));
  await started.wasReady;
  return { ...started, worker };
}

/** Asks, and acknowledges every token when `reads`. */
function ask(host: EndpointHost, prompt: string, maxTokens: number, reads = true) {
  let text = '';
  let tokens = 0;
  let begun!: () => void;
  const hasBegun = new Promise<void>((resolve) => {
    begun = resolve;
  });
  let id = '';
  const end = new Promise<TextDone | TextRefused>((resolve) => {
    id = host.generate(GenerateText.fromPartial({ prompt, maxTokens }), {
      delta: (delta) => {
        text += delta.text;
        tokens += delta.tokenIds.length;
        begun();
        if (reads) host.acknowledge(id, tokens);
      },
      done: resolve,
      refused: resolve,
    });
  });
  return { id, end, hasBegun, text: () => text };
}

test('asks for answers, longer ones than a reader may be behind, and hears refusals', async () => {
  const { host } = await startRun();
  const [one, two] = [ask(host, ENDLESS, 400), ask(host, ENDLESS, 400)];
  const { generatedTokens } = (await one.end) as TextDone;
  expect(generatedTokens).toBeGreaterThan(limits.unreadTokens);
  await two.end;
  expect(one.text()).toBe(two.text());
  expect(one.text()).not.toBe('');
  expect(await ask(host, '', 1).end).toMatchObject({ message: expect.stringContaining('empty') });
});

test('a cancelled answer ends, and a closed host ends what is open', async () => {
  const { host } = await startRun();
  const one = ask(host, ENDLESS, 0, false);
  const two = ask(host, ENDLESS, 0, false);
  await Promise.all([one.hasBegun, two.hasBegun]);
  host.cancel(one.id, 'enough');
  expect(await one.end).toMatchObject({ reason: TextDoneReason.TEXT_DONE_REASON_CANCELLED, message: 'enough' });
  await host.close('a test');
  expect(await two.end).toMatchObject({ reason: TextDoneReason.TEXT_DONE_REASON_UNAVAILABLE });
  expect(await ask(host, 'late', 1).end).toMatchObject({ reason: TextDoneReason.TEXT_DONE_REASON_UNAVAILABLE });
});

test('a stage that dies is a loss that names the edge, and no answer stays open', async () => {
  const { host, worker, wasLost } = await startRun();
  const answer = ask(host, ENDLESS, 0, false);
  await answer.hasBegun;
  worker.child.kill('SIGKILL');
  const fault = await wasLost;
  expect(fault.reason).toBe(StageFaultReason.STAGE_FAULT_REASON_EDGE_CLOSED);
  expect(fault.message).toContain(`edge ${fault.edgeId} of run 7`);
  expect(await answer.end).toMatchObject({ message: fault.message });
  await host.reaped;
});

test.each<[string, string[], keyof typeof StageFaultReason]>([
  ['is no program', ['/no/such/program'], 'STAGE_FAULT_REASON_WORKER_START_FAILED'],
  ['ends at once', [process.execPath, '-e', ''], 'STAGE_FAULT_REASON_WORKER_EXITED'],
  [
    'speaks nonsense',
    [process.execPath, '-e', 'console.log("moin");setInterval(() => {}, 9e5)'],
    'STAGE_FAULT_REASON_WORKER_PROTOCOL',
  ],
])('an endpoint that %s is lost, and reaped', async (_, command, reason) => {
  const { host, wasLost } = startHost({ command });
  expect((await wasLost).reason).toBe(StageFaultReason[reason]);
  await host.reaped;
});

test('an endpoint that never says hello is lost', async () => {
  const command = [process.execPath, '-e', 'setInterval(() => {}, 9e5)'];
  const { host, wasLost } = startHost({ command, timings: { ...defaultWorkerTimings, hello: 1 } });
  expect((await wasLost).reason).toBe(StageFaultReason.STAGE_FAULT_REASON_WORKER_UNRESPONSIVE);
  await host.reaped;
});

test('an endpoint that is frozen is lost, and reaped', async () => {
  const script = `console.log('{"hello":{"protocol":1}}'); process.kill(process.pid, 'SIGSTOP')`;
  const timings = { ...defaultWorkerTimings, healthEvery: 20, healthPatience: 20 };
  const { host, wasLost } = startHost({ command: [process.execPath, '-e', script], timings });
  const answer = ask(host, 'anyone?', 1);
  expect((await wasLost).reason).toBe(StageFaultReason.STAGE_FAULT_REASON_WORKER_UNRESPONSIVE);
  expect(await answer.end).toMatchObject({ reason: TextDoneReason.TEXT_DONE_REASON_UNAVAILABLE });
  await host.reaped;
});
