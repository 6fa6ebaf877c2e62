import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { StageFaultReason } from '../../gen/stageplane/v1/run.js';
import { confineWorkers, type WorkerLimits } from '../../src/agent/confine-workers.js';
import { writeTinyModel } from '../../src/gguf/tiny-model.js';
import { findLlamaPackage } from '../../src/worker/engine/llama/llama-package.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { prepareCommand } from '../worker/prepare-command.js';
import { ScriptedOrchestrator } from './scripted-orchestrator.js';
import { oddWorker, provisionOf, startAgent, stopOf } from './start-agent.js';

const MIB = 1024n ** 2n;
const LIMIT = 400n * MIB;

async function wordsFor(limits: WorkerLimits): Promise<readonly string[]> {
  const confined = await confineWorkers(limits);
  if (confined.kind === 'refused') throw new Error(confined.message);
  return confined.words;
}

/** An agent with a stage of a model, before anything has become of it. */
async function startStage(workerCommand: readonly string[] | undefined, workerLimits: WorkerLimits) {
  const orchestrator = await ScriptedOrchestrator.open();
  const folder = join(temporaryFolder(), 'models');
  mkdirSync(folder);
  await writeTinyModel(join(folder, 'm.gguf'), { layers: 4, hidden: 32 });
  startAgent(orchestrator.address, { models: [folder], workerCommand, workerLimits });
  const session = await orchestrator.session(1);
  await session.welcome();
  return session;
}

describe('without util-linux', () => {
  beforeAll(() => {
    vi.stubEnv('PATH', '/nowhere');
    return () => void vi.unstubAllEnvs();
  });

  it('nothing is confined that nobody asked for', async () => {
    expect(await wordsFor({})).toEqual([]);
  });

  it.each<[string, WorkerLimits]>([
    ['--worker-memory-limit', { memory: LIMIT }],
    ['--worker-open-files', { openFiles: 1024 }],
    ['--worker-memory-limit and --worker-open-files', { memory: LIMIT, openFiles: 1024 }],
  ])('%s is refused, and so is the start', async (flags, workerLimits) => {
    const agent = startAgent('127.0.0.1:1', { workerLimits });
    expect(await agent.done).toEqual({
      kind: 'refused',
      message: `this system cannot hold workers to ${flags} (prlimit of util-linux is not installed): leave the flag out, or choose a value that it allows`,
    });
  });
});

describe.skipIf(process.platform !== 'linux')('with util-linux', () => {
  it('a process has its limits from its first moment, and none that nobody asked for', async () => {
    const limitsOf = (words: readonly string[]) =>
      execFileSync(words[0]!, [...words.slice(1), 'cat', '/proc/self/limits'], { encoding: 'utf8' });
    const asked = limitsOf(await wordsFor({ memory: LIMIT, openFiles: 500 }));
    expect(asked).toMatch(new RegExp(`^Max data size +${LIMIT} +${LIMIT} `, 'm'));
    expect(asked).toMatch(/^Max open files +500 +500 /m);
    expect(asked).toMatch(/^Max core file size +0 +0 /m);
    const usual = limitsOf(['env']);
    const line = (text: string, name: string) => new RegExp(`^${name} .*`, 'm').exec(text)?.[0];
    const unasked = limitsOf(await wordsFor({}));
    expect(unasked).toMatch(/^Max core file size +0 +0 /m);
    for (const name of ['Max data size', 'Max open files']) expect(line(unasked, name)).toBe(line(usual, name));
  });

  it('a value that the system does not allow is refused with its words', async () => {
    const confined = await confineWorkers({ openFiles: 4_000_000_000 });
    expect(confined).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('--worker-open-files (prlimit: '),
    });
  });

  it('a worker that does not even start within its limit is told of with the flag', async () => {
    const agent = startAgent('127.0.0.1:1', { workerLimits: { memory: 16n * MIB } });
    const end = await agent.done;
    expect(end).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('check --worker, --worker-memory-limit'),
    });
  });

  it('a worker that wants more memory ends, and its stage says which limit may have done it', async () => {
    const session = await startStage(oddWorker('gorges'), { memory: LIMIT });
    session.say({ $case: 'provision', value: provisionOf('m.gguf') });
    const { report } = await session.hearReport('fault');
    expect(report?.value).toMatchObject({ reason: StageFaultReason.STAGE_FAULT_REASON_WORKER_EXITED });
    expect(report?.value).toMatchObject({
      message: expect.stringContaining("needs more memory than the agent's --worker-memory-limit of 400 MiB"),
    });
    session.say({ $case: 'stop', value: stopOf() });
    await session.hearReport('stopped');
  });

  it.skipIf(findLlamaPackage().kind === 'refused')('our own worker says itself that it got no memory', async () => {
    const session = await startStage(undefined, { memory: LIMIT });
    const delivery = provisionOf('m.gguf');
    const ggufSource = delivery.stages[0]!.provision!.ggufSource;
    const stage = { modelPath: '', totalLayers: 4, hiddenDim: 32 };
    // A cache of 4 GiB at least.
    const { provision, settings } = prepareCommand(stage, {
      engine: 'llama.cpp',
      contextLength: 1 << 20,
      sessions: 16,
    });
    const stages = [{ provision: { ...provision!, ggufSource }, settings: settings!, producerNodeId: 1n }];
    session.say({ $case: 'provision', value: { ...delivery, stages } });
    const { report } = await session.hearReport('fault');
    expect(report?.value).toMatchObject({ reason: StageFaultReason.STAGE_FAULT_REASON_OUT_OF_MEMORY });
    session.say({ $case: 'stop', value: stopOf() });
    await session.hearReport('stopped');
  });
});
