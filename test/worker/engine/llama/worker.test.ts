import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { writeTinyModel } from '../../../../src/gguf/tiny-model.js';
import { findLlamaPackage } from '../../../../src/worker/engine/llama/llama-package.js';
import { SLICE_FOLDER } from '../../../../src/worker/engine/llama/slice-settings.js';
import { prepareCommand } from '../../prepare-command.js';
import { WorkerProcess, workerMain } from '../../worker-process.js';

let folder: string;
let modelPath: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stageplane-llama-worker-'));
  process.env[SLICE_FOLDER] = join(folder, 'slices');
  [modelPath] = await writeTinyModel(join(folder, 'tiny.gguf'), { layers: 4, hidden: 32 });
});
afterAll(async () => {
  delete process.env[SLICE_FOLDER];
  await rm(folder, { recursive: true });
});

const started: WorkerProcess[] = [];
afterEach(() => {
  for (const worker of started.splice(0)) worker.child.kill('SIGKILL');
});

function startStage(threads: number): WorkerProcess {
  const worker = new WorkerProcess(workerMain);
  started.push(worker);
  const stage = { modelPath, totalLayers: 4, hiddenDim: 32, layers: [1, 3] as const };
  worker.send({ $case: 'prepare', value: prepareCommand(stage, { engine: 'llama.cpp', threads }) });
  return worker;
}

describe.skipIf(findLlamaPackage().kind === 'refused')('a worker with engine llama.cpp', () => {
  test('offers it, loads a stage and ends when it is told to', async () => {
    const worker = startStage(2);
    expect((await worker.heard('hello')).engines).toEqual(['fixture', 'llama.cpp']);
    expect((await worker.heard('ready')).bytesRead).toBeGreaterThan(0n);
    worker.send({ $case: 'stop', value: { reason: 'the run was stopped' } });
    expect(await worker.ended).toEqual({ code: 0, signal: null });
    expect(worker.kinds()).toEqual(['hello', 'loading', 'loading', 'ready', 'stopped']);
    // The library's own words would hide the worker's.
    expect(worker.log.every((line) => line.startsWith('{'))).toBe(true);
  });

  test('ends when its agent does, with the threads of the library asleep', async () => {
    const worker = startStage(2);
    await worker.heard('ready');
    worker.child.stdin.end();
    expect(await worker.ended).toEqual({ code: null, signal: 'SIGKILL' });
  });

  test('a stage that begins anew uses the slice of the one before, and sweeps what that one left', async () => {
    const killed = startStage(1);
    await killed.heard('ready');
    killed.child.kill('SIGKILL');
    await killed.ended;
    const next = startStage(1);
    await next.heard('ready');
    const inUse = await readdir(join(folder, 'slices', 'in-use'));
    expect(inUse.map((file) => Number.parseInt(file, 10))).toEqual([next.child.pid]);
    const slices = (await readdir(join(folder, 'slices'))).filter((file) => file.endsWith('.gguf'));
    expect(slices).toHaveLength(1);
  });
});
