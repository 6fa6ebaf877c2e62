import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { writeTinyModel } from '../../src/gguf/tiny-model.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { prepareCommand } from './prepare-command.js';
import { WorkerProcess } from './worker-process.js';

const script = fileURLToPath(new URL('./fixtures/minimal-worker.mjs', import.meta.url));

let worker: WorkerProcess | undefined;
afterEach(() => worker?.child.kill('SIGKILL'));

test("someone's own worker speaks the protocol in 40 lines", async () => {
  const [modelPath] = await writeTinyModel(join(temporaryFolder(), 'tiny.gguf'), { layers: 2, hidden: 32 });
  worker = new WorkerProcess(script);
  expect(await worker.heard('hello')).toEqual({ protocol: 1, engines: ['minimal'], features: [] });
  worker.send({ $case: 'prepare', value: prepareCommand({ modelPath, totalLayers: 2, hiddenDim: 32 }) });
  expect((await worker.heard('ready')).bytesDigest).toMatch(/^[0-9a-f]{64}$/);
  worker.send({ $case: 'checkHealth', value: { sequence: 3n } });
  expect(await worker.heard('health')).toEqual({ sequence: 3n, busyMillis: 0n });
  worker.send({ $case: 'stop', value: { reason: '' } });
  expect(await worker.ended).toEqual({ code: 0, signal: null });
});

test('and ends when its stdin does', async () => {
  worker = new WorkerProcess(script);
  await worker.heard('hello');
  worker.child.stdin.end();
  expect(await worker.ended).toEqual({ code: 0, signal: null });
});
