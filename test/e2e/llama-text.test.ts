import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { writeTinyModel } from '../../src/gguf/tiny-model.js';
import { isAlive } from '../../src/process/descendants.js';
import { findLlamaPackage } from '../../src/worker/engine/llama/llama-package.js';
import { Child, type Ended } from '../cli/child.js';
import { Cluster } from './cluster.js';

const chatTemplate =
  "{% for message in messages %}{{ '[' + message.role + '] ' + message.content + eos_token }}{% endfor %}[assistant] ";
const folder = mkdtempSync(join(tmpdir(), 'sp-'));
afterAll(() => rmSync(folder, { recursive: true }));
const [model] = await writeTinyModel(join(folder, 'tiny.gguf'), { layers: 4, chatTemplate });

/** The same model, with other bytes of the same length in its metadata, so many bytes after a key. */
function patched(name: string, key: string, after: number, bytes: string): string {
  const file = readFileSync(model);
  file.write(bytes, file.indexOf(key) + after);
  const path = join(folder, name);
  writeFileSync(path, file);
  return path;
}

const KEY = 'tokenizer.ggml.model';
/** A type of four bytes and a length of eight lie between a key and its text. */
const VALUE = KEY.length + 12;

const cluster = await Cluster.start(['alpha', 'beta'], { model, ownWorkers: true, finished: afterAll });
afterAll(async () => expect(await cluster.end()).toEqual([]));

function run(file: string, ...flags: string[]): Promise<Ended> {
  // Placed, since how much of this machine's memory is free is not what the tests are about.
  const plan = ['--engine', 'llama.cpp', '--place', '0=alpha,1=beta', '--threads', '1'];
  return new Child(['run', file, ...plan, ...flags, '--orchestrator', cluster.address]).end();
}

describe.runIf(findLlamaPackage().kind === 'found')('run --prompt with llama.cpp', () => {
  it('answers a prompt, and a user by the chat template of the model', async () => {
    const plain = await run(model, '--prompt', 'the old lighthouse', '--max-tokens', '8');
    expect([plain.code, plain.stdout === '']).toEqual([0, false]);
    const chat = await run(model, '--prompt', 'the old lighthouse', '--chat', '--max-tokens', '8');
    expect(chat.code).toBe(0);
    expect(chat.stdout).not.toBe(plain.stdout);
  });

  it('is rejected at planning when the model has no tokenizer', async () => {
    const { code, stdout, stderr } = await run(patched('none.gguf', KEY, KEY.length - 1, '?'), '--prompt', 'a');
    expect([code, stdout]).toEqual([3, '']);
    expect(stderr).toMatch(
      /^stageplane: the plan was rejected, UNSUPPORTED_MODEL: .*none.gguf has no tokenizer, so no prompt can be made into tokens: take a file that embeds one\n$/,
    );
  });

  it('ends FAULTED when the library does not know the tokenizer, and no worker is left', async () => {
    const { code, stdout, stderr } = await run(patched('mars.gguf', KEY, VALUE, 'mars!'), '--prompt', 'a');
    expect([code, stdout]).toEqual([4, '']);
    expect(stderr).toMatch(
      /\nstageplane: run \d+ ended FAULTED: token-endpoint: MODEL_INVALID: llama.cpp cannot load .*mars.gguf: .*unknown tokenizer: 'mars!'.*: choose a model whose tokenizer this build of llama.cpp knows\n/,
    );
    const runId = BigInt(/^run (\d+)$/m.exec(stderr)![1]!);
    for (const index of [0, 1]) expect(isAlive(await cluster.workerOf(runId, index))).toBe(false);
  });
});
