import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { listNodes } from '../../src/launcher/list-all.js';
import { findLlamaPackage } from '../../src/worker/engine/llama/llama-package.js';
import { openVocabulary } from '../../src/worker/engine/llama/vocabulary.js';
import { stageplane } from '../cli/child.js';
import {
  type SmallArchitecture,
  smallArchitectures,
  writeArchitectureModel,
} from '../gguf/slice/architecture-model.js';
import { afterFile } from '../support/after-file.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { testLibrary, testModel } from '../worker/engine/llama/cut-model.js';
import { quantize } from '../worker/engine/llama/quantize.js';
import { greedyTokens, WholeModel } from '../worker/engine/llama/whole-model.js';
import { Cluster } from './cluster.js';
import { type ExactRun, exactAnswer } from './exact-run.js';

const LAYERS = 6;
const TOKENS = 64;
const settings = { microBatch: 16, contextLength: 256 };
/** More tokens than a micro-batch has rows. */
const prompt = 'the tin lantern of the old lighthouse, seen from the sea at night';
const formats = ['F16', 'Q8_0', 'Q4_K_M'] as const;
const architectures: readonly [string, SmallArchitecture][] = [
  'llama' as const,
  'qwen2' as const,
  'qwen3' as const,
].map((name) => [name, smallArchitectures[name]]);
/** Runs of one line go side by side, on nodes of their own. */
const stageCounts = [
  [
    { stages: 1, cuts: [], skippedNodes: 5 },
    { stages: 5, cuts: [1, 2, 3, 5] },
  ],
  [
    { stages: 2, cuts: [2], skippedNodes: 3 },
    { stages: 3, cuts: [1, 4] },
  ],
] as const;

const finished = afterFile();
let cluster: Cluster;

/** 9 models and, for all of them, one agent per stage: a node of one core has no more than one stage of llama.cpp. */
async function prepare(): Promise<void> {
  const models = join(temporaryFolder(finished), 'models');
  mkdirSync(models);
  const library = await testLibrary();
  for (const [name, architecture] of architectures) {
    const original = join(models, `${name}.gguf`);
    // Wide enough for blocks of 256.
    await writeArchitectureModel(original, name, architecture, { scale: 4, endless: true });
    for (const format of formats) quantize(library, original, pathOf(models, name, format), format);
  }
  cluster = await Cluster.start(['alpha', 'beta', 'gamma', 'delta', 'epsilon', 'zeta'], {
    model: pathOf(models, 'llama', 'F16'),
    ownWorkers: true,
    agentFlags: ['--warm-workers', '1'],
    finished,
  });
}

function pathOf(folder: string, architecture: string, format: string): string {
  return join(folder, `${architecture}-${format}.gguf`);
}

function modelOf(architecture: string, format: string): string {
  return pathOf(join(cluster.model, '..'), architecture, format);
}

/** What a program says that gives token ids to the library, in this process. */
async function wholeTokens(model: string): Promise<number[]> {
  const opened = await openVocabulary(model);
  if (opened.kind === 'refused') throw new Error(opened.message);
  const ids = opened.vocabulary.tokenize(prompt, { parseSpecial: false });
  opened.vocabulary.close();
  expect(ids.length).toBeGreaterThan(settings.microBatch);
  const whole = new WholeModel(await testLibrary(), model, {
    ...settings,
    flashAttention: false,
    threads: 1,
    tapped: false,
  });
  return greedyTokens(whole, ids, TOKENS);
}

function runOf(model: string, cuts: readonly number[], more: Partial<ExactRun> = {}): ExactRun {
  return { model, layers: LAYERS, cuts, prompt, maxTokens: TOKENS, settings, ...more };
}

/** Milliseconds of four runs, 11 stages together, on a machine that has much else to do. */
const PATIENCE = 180_000;

describe.skipIf(findLlamaPackage().kind === 'refused')('an exact run through orchestrator and agents', () => {
  beforeAll(prepare, PATIENCE);

  describe.each(architectures.map(([name]) => name))('of a model like %s', (architecture) => {
    it.each(formats)(
      'in %s says with 1, 2, 3 and 5 stages what the whole model says',
      { timeout: PATIENCE },
      async (format) => {
        const model = modelOf(architecture, format);
        expect((await testModel(model)).tensors.map(({ type }) => type)).toContain(format.replace('_M', ''));
        const whole = await wholeTokens(model);
        expect(new Set(whole).size).toBeGreaterThan(5);
        for (const together of stageCounts) {
          const answers = together.map(async ({ stages, cuts, ...place }) => {
            const { tokenIds, fidelity } = await exactAnswer(cluster, runOf(model, cuts, place));
            expect(tokenIds, `${stages} stages`).toEqual(whole);
            expect(fidelity).toBe('exact');
          });
          await Promise.all(answers);
        }
      },
    );
  });

  it('draws the same from three stages as from the whole model, by its seed', { timeout: PATIENCE }, async () => {
    const model = modelOf('qwen2', 'Q8_0');
    const sampling = { temperatureMillis: 800, topK: 40 };
    const drawn = (seed: bigint, cuts: readonly number[], skippedNodes = 0) =>
      exactAnswer(cluster, runOf(model, cuts, { skippedNodes, sampling, settings: { ...settings, seed } }));
    const [split, whole] = await Promise.all([drawn(7n, [1, 4]), drawn(7n, [], 3)]);
    expect(split.tokenIds.length).toBeGreaterThan(5);
    expect(whole.tokenIds).toEqual(split.tokenIds);
    expect((await drawn(8n, [1, 4])).tokenIds).not.toEqual(split.tokenIds);

    const { code, stdout } = await stageplane([
      'verify',
      String(split.runId),
      '--orchestrator',
      cluster.address,
      '--json',
    ]);
    const [{ engines = [] } = {}] = await listNodes(cluster.client);
    expect(JSON.parse(stdout)).toMatchObject({
      identical: true,
      verdict: 'kept',
      fidelity: 'exact',
      agreeingTokens: split.tokenIds.length,
      kernels: { comparison: 'same', local: engines.find(({ name }) => name === 'llama.cpp')?.build },
    });
    expect(code).toBe(0);
  });
});
