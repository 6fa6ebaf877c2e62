import { existsSync, mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { StageFaultReason } from '../../../../gen/stageplane/v1/run.js';
import { writeTinyModel } from '../../../../src/gguf/tiny-model.js';
import { findLlamaPackage } from '../../../../src/worker/engine/llama/llama-package.js';
import { SLICE_FOLDER } from '../../../../src/worker/engine/llama/slice-settings.js';
import { canMount, mountedFolder } from '../../../support/mounted-folder.js';
import { prepareCommand } from '../../prepare-command.js';
import { WorkerProcess, workerMain } from '../../worker-process.js';

const folder = mkdtempSync(join(tmpdir(), 'stageplane-full-disk-'));
const [modelPath] = await writeTinyModel(join(folder, 'tiny.gguf'), { layers: 4, hidden: 32 });
// So new that nothing is kept of its header: what a disk has room for must not depend on how fast this machine is.
const ahead = Date.now() / 1000 + 3600;
utimesSync(modelPath!, ahead, ahead);
afterAll(() => rmSync(folder, { recursive: true }));

const started: WorkerProcess[] = [];
afterEach(() => {
  delete process.env[SLICE_FOLDER];
  for (const worker of started.splice(0)) worker.child.kill('SIGKILL');
});

function startStage(slices: string, shell?: string): WorkerProcess {
  process.env[SLICE_FOLDER] = slices;
  const worker = new WorkerProcess(workerMain, [], shell);
  started.push(worker);
  const stage = { modelPath, totalLayers: 4, hiddenDim: 32, layers: [1, 3] as const };
  worker.send({ $case: 'prepare', value: prepareCommand(stage, { engine: 'llama.cpp' }) });
  return worker;
}

/** The stage says why it faulted, and nothing is half written. */
async function expectNoRoom(worker: WorkerProcess, slices: string, sentence: RegExp): Promise<void> {
  const { reason, message } = await worker.heard('fault');
  expect(reason).toBe(StageFaultReason.STAGE_FAULT_REASON_LOAD_FAILED);
  expect(message).toMatch(sentence);
  const left = existsSync(slices) ? readdirSync(slices, { recursive: true }) : [];
  expect(left).toEqual(left.length === 0 ? [] : ['in-use']);
}

describe.skipIf(findLlamaPackage().kind === 'refused')('a stage whose slice', () => {
  const whole = /a slice of \d+ bytes does not fit on the disk of .*\/slices, which has \d+ left: free some$/;
  const halfway = /the disk of .*\/slices became full while a slice of \d+ bytes was written: free some of it$/;

  test('is cut off while it is written faults with its size, and begins anew when there is room', async () => {
    const slices = join(folder, 'slices');
    // Files of 32 or 64 KiB, by what the shell counts in: the kernel breaks off the write that goes on from there.
    await expectNoRoom(startStage(slices, 'ulimit -f 64'), slices, halfway);
    await startStage(slices).heard('ready');
  });

  test.skipIf(!canMount()).each([
    ['bytes', 'size=128k', 'size=8m', whole],
    // The root, the folder of slices and the one of slices in use: there is room for bytes, but for no file.
    ['files', 'size=8m,nr_inodes=3', 'nr_inodes=100', halfway],
  ])('finds a full disk, by its %s, faults likewise', async (_what, full, roomy, sentence) => {
    const mounted = mountedFolder(full);
    try {
      const slices = join(mounted.path, 'slices');
      await expectNoRoom(startStage(slices), slices, sentence);
      mounted.remount(roomy);
      const worker = startStage(slices);
      await worker.heard('ready');
      worker.child.kill('SIGKILL');
      await worker.ended;
    } finally {
      mounted.remove();
    }
  });
});
