import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { StageFeature } from '../../gen/stageplane/v1/node.js';
import { StageFaultReason } from '../../gen/stageplane/v1/run.js';
import type { PrepareStage } from '../../gen/stageplane/v1/worker.js';
import { limits } from '../../src/core/limits.js';
import { openModel } from '../../src/gguf/open-model.js';
import { writeTinyModel } from '../../src/gguf/tiny-model.js';
import { deadDisk } from '../support/dead-disk.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { writeSparseModel } from './fixtures/sparse-model.js';
import { prepareCommand } from './prepare-command.js';
import { commandLine, WorkerProcess, workerMain } from './worker-process.js';

/** So large that no test is quick enough to see the end of its load. */
const HUGE_LAYER_BYTES = 64 * 2 ** 30;

const folder = temporaryFolder(afterAll);
let tiny: { modelPath: string; totalLayers: number; hiddenDim: number };
let huge: typeof tiny;
beforeAll(async () => {
  const [modelPath] = await writeTinyModel(join(folder, 'tiny.gguf'), { layers: 4, hidden: 32 });
  tiny = { modelPath, totalLayers: 4, hiddenDim: 32 };
  huge = { modelPath: join(folder, 'huge.gguf'), totalLayers: 2, hiddenDim: 64 };
  await writeSparseModel(huge.modelPath, { layers: 2, bytesPerLayer: HUGE_LAYER_BYTES });
});

const started: WorkerProcess[] = [];
function start(script = workerMain, args: string[] = []): WorkerProcess {
  const worker = new WorkerProcess(script, args);
  started.push(worker);
  return worker;
}
afterEach(() => {
  for (const worker of started.splice(0)) worker.child.kill('SIGKILL');
});

function startWith(prepare: PrepareStage): WorkerProcess {
  const worker = start();
  worker.send({ $case: 'prepare', value: prepare });
  return worker;
}

async function startLoading(): Promise<WorkerProcess> {
  const worker = startWith(prepareCommand(huge));
  await worker.heard('loading', ({ bytesDone }) => bytesDone > 0n);
  return worker;
}

const stop = { $case: 'stop', value: { reason: 'the run was stopped' } } as const;
const checkHealth = (sequence: bigint) => ({ $case: 'checkHealth', value: { sequence } }) as const;

describe('a stage from its beginning to its end', () => {
  test('hello, loading, ready, health, stopped', async () => {
    const opened = await openModel(tiny.modelPath);
    if (opened.kind === 'refused') throw opened.error;
    const worker = startWith(prepareCommand({ ...tiny, layers: [1, 3] }, { modelDigest: opened.model.digest }));
    expect(await worker.heard('hello')).toEqual({
      protocol: 1,
      engines: expect.arrayContaining(['fixture']),
      features: [StageFeature.STAGE_FEATURE_SAMPLING],
    });
    const footprint = await worker.heard('ready');
    expect(footprint.bytesRead).toBeGreaterThan(0n);
    expect(footprint.bytesDigest).toMatch(/^[0-9a-f]{64}$/);
    expect(footprint.hostBytes).toBeGreaterThan(2n ** 20n);
    worker.send(checkHealth(2n ** 63n));
    expect(await worker.heard('health')).toEqual({
      sequence: 2n ** 63n,
      busyMillis: 0n,
      usage: { heldSessions: 0, heldTokens: 0n },
    });
    worker.send(stop);
    expect(await worker.ended).toEqual({ code: 0, signal: null });
    expect(worker.kinds()).toEqual(['hello', 'loading', 'loading', 'ready', 'health', 'stopped']);
  });

  test('the stages of a model together read each layer once, and the same bytes each time', async () => {
    const workers = [
      startWith(prepareCommand({ ...tiny, layers: [0, 2] })),
      startWith(prepareCommand({ ...tiny, layers: [2, 4] })),
    ];
    const whole = startWith(prepareCommand(tiny));
    const parts = await Promise.all(workers.map((worker) => worker.heard('ready')));
    const { bytesRead } = await whole.heard('ready');
    expect(parts.reduce((sum, part) => sum + part.bytesRead, 0n)).toBe(bytesRead);
  });

  test('the log is JSON on stderr', async () => {
    const worker = startWith(prepareCommand(tiny));
    await worker.heard('ready');
    worker.send(stop);
    await worker.ended;
    const messages = worker.log.map((line) => JSON.parse(line).msg);
    expect(messages).toEqual(['stage prepares', 'stage ready', 'stop commanded', 'worker ends']);
  });

  test('a worker that was never told to prepare stops as well', async () => {
    const worker = start();
    worker.send(stop);
    expect(await worker.ended).toEqual({ code: 0, signal: null });
    expect(worker.kinds()).toEqual(['hello', 'stopped']);
  });
});

describe('in the middle of a load', () => {
  test('health is answered at once', async () => {
    const worker = await startLoading();
    worker.send(checkHealth(5n));
    expect(await worker.heard('health')).toMatchObject({ sequence: 5n });
    expect(worker.kinds()).not.toContain('ready');
  });

  test('a stop ends it', async () => {
    const worker = await startLoading();
    worker.send(stop);
    expect(await worker.ended).toEqual({ code: 0, signal: null });
    expect(worker.kinds().at(-1)).toBe('stopped');
    expect(worker.kinds()).not.toContain('ready');
  });

  test('the end of stdin ends it', async () => {
    const worker = await startLoading();
    worker.child.stdin.end();
    expect(await worker.ended).toEqual({ code: null, signal: 'SIGKILL' });
    expect(worker.kinds()).not.toContain('stopped');
  });

  test('the end of stdin ends it at once, although its disk has stopped to answer', async () => {
    const reading = deadDisk('engine');
    const worker = startWith(prepareCommand(tiny));
    await reading();
    worker.child.stdin.end();
    expect(await worker.ended).toEqual({ code: null, signal: 'SIGKILL' });
    // It has not waited for its engine.
    expect(worker.log.join('\n')).not.toContain('worker ends');
  });

  test('an agent that was killed leaves no orphan (I18)', async () => {
    const standIn = fileURLToPath(new URL('./fixtures/agent-stand-in.mjs', import.meta.url));
    const agent = start(standIn, [workerMain, commandLine({ $case: 'prepare', value: prepareCommand(huge) })]);
    await agent.heard('loading', ({ bytesDone }) => bytesDone > 0n);
    agent.child.kill('SIGKILL');
    // The worker inherited the agent's stdout, so this resolves only when the worker has ended too.
    expect(await agent.ended).toEqual({ code: null, signal: 'SIGKILL' });
  });

  test('SIGTERM ends it without a word, SIGINT does nothing', async () => {
    const worker = await startLoading();
    worker.child.kill('SIGINT');
    worker.send(checkHealth(1n));
    await worker.heard('health');
    worker.child.kill('SIGTERM');
    expect(await worker.ended).toEqual({ code: 143, signal: null });
    expect(worker.kinds()).not.toContain('stopped');
  });

  test('a second prepare is a fault, and the load ends', async () => {
    const worker = await startLoading();
    worker.send({ $case: 'prepare', value: prepareCommand(tiny) });
    expect(await worker.heard('fault')).toMatchObject({
      reason: StageFaultReason.STAGE_FAULT_REASON_CONFLICTING_DELIVERY,
    });
    worker.send(stop);
    expect(await worker.ended).toEqual({ code: 0, signal: null });
    expect(worker.kinds()).not.toContain('ready');
  });
});

describe('a line that is not of the protocol is a fault', () => {
  test.each([
    ['rubbish', 'rubbish', 'is not JSON: "rubbish"'],
    ['no object', '[1]', 'is not a JSON object'],
    ['an unknown command', '{"dance":{}}', 'none of the commands prepare, stop and checkHealth'],
    ['a value of the wrong type', '{"checkHealth":{"sequence":"soon"}}', 'has a value of the wrong type'],
    ['an unknown enum', '{"prepare":{"settings":{"kvCacheType":"FP8"}}}', '"FP8" at "prepare.settings.kvCacheType"'],
    ['too long a line', 'x'.repeat(limits.workerLineBytes + 1), `is longer than ${limits.workerLineBytes} bytes`],
  ])('%s', async (_, line, sentence) => {
    const worker = start();
    worker.write(`${line}\n`);
    const fault = await worker.heard('fault');
    expect(fault.reason).toBe(StageFaultReason.STAGE_FAULT_REASON_INVALID_DELIVERY);
    expect(fault.message).toContain(sentence);
    worker.write('more rubbish\n');
    worker.send(checkHealth(1n));
    await worker.heard('health');
    worker.send(stop);
    expect(await worker.ended).toEqual({ code: 0, signal: null });
    expect(worker.kinds()).toEqual(['hello', 'fault', 'health', 'stopped']);
  });
});

test('a fault of the file is told with its reason and its sentence', async () => {
  const planned = '0'.repeat(64);
  const worker = startWith(prepareCommand(tiny, { modelDigest: planned }));
  const fault = await worker.heard('fault');
  expect(fault.reason).toBe(StageFaultReason.STAGE_FAULT_REASON_MODEL_MISMATCH);
  expect(fault.message).toContain(planned);
});
