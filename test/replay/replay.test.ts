import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { type GgufModelPlan, RunPlan, TokenOutputPolicy } from '../../gen/stageplane/v1/plan.js';
import { Fidelity, KvCacheType, StageSettings } from '../../gen/stageplane/v1/provision.js';
import { inspectModel } from '../../src/gguf/inspect-model.js';
import { writeTinyModel } from '../../src/gguf/tiny-model.js';
import { type ReplayRequest, replay } from '../../src/replay/replay.js';
import { temporaryFolder } from '../support/temporary-folder.js';

/** What a run of the tiny model asks, as the fixture engine answers it. */
async function requestFor(folder: string, settings: Partial<StageSettings> = {}): Promise<ReplayRequest> {
  const [modelPath] = await writeTinyModel(join(folder, 'tiny.gguf'), { layers: 4, hidden: 32 });
  const inspected = await inspectModel(modelPath);
  if (inspected.kind === 'refused') throw inspected.error;
  const { hiddenDim, dtypeWidthBytes, maxSeqLen, ...facts } = inspected.inspection.facts!;
  const numbers = { hiddenDim, dtypeWidthBytes, maxSeqLen };
  const model = { ...facts, ...mapped(numbers) } as GgufModelPlan;
  const prompt = { $case: 'inline', value: 'Why is the sky blue?' } as const;
  const runtime = {
    prompt: { source: prompt },
    sampling: { temperatureMillis: 0, topK: 0 },
    tokenOutputPolicy: TokenOutputPolicy.TOKEN_OUTPUT_POLICY_EMIT_ALL,
  };
  const defaults = {
    engine: 'fixture',
    device: 'cpu',
    totalLayers: 4,
    contextLength: 256,
    kvCacheType: KvCacheType.KV_CACHE_TYPE_F16,
    microBatch: 16,
    threads: 1,
    sessions: 3,
    fidelity: Fidelity.FIDELITY_FAST,
    // Of one stage of some run, and so of no meaning here.
    expectedBytes: 7n,
  };
  return {
    plan: RunPlan.fromPartial({ runId: 7n, model, runtime }),
    settings: StageSettings.fromPartial({ ...defaults, ...settings }),
    modelPath,
    tokenizerPath: '',
    prompt,
    maxTokens: 12,
  };
}

function mapped(numbers: Record<string, bigint>): Record<string, number> {
  return Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, Number(value)]));
}

/** Where replays of this process keep their files. */
function watchedFolder(): string {
  const folder = temporaryFolder();
  const { TMPDIR } = process.env;
  process.env.TMPDIR = folder;
  onTestFinished(() => {
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
  });
  return folder;
}

const idle = new AbortController().signal;

it('gives tokens, and where in the text each of them ended', async () => {
  const request = await requestFor(temporaryFolder());
  const folder = watchedFolder();
  const replayed = await replay(request, idle);
  if (replayed.kind !== 'answered') throw new Error(JSON.stringify(replayed));
  const { tokenIds, textEnds, text } = replayed.answer;
  expect(tokenIds).toHaveLength(12);
  expect(textEnds).toHaveLength(12);
  expect(textEnds.every((end, index) => end >= (textEnds[index - 1] ?? 0))).toBe(true);
  expect(textEnds.at(-1)).toBeLessThanOrEqual(text.length);
  expect(readdirSync(folder)).toEqual([]);
});

it('fails with the words of the worker, not with those of the endpoint that lost it', async () => {
  const request = await requestFor(temporaryFolder(), { modelDigest: '00'.repeat(32) });
  const folder = watchedFolder();
  expect(await replay(request, idle)).toEqual({
    kind: 'failed',
    message: expect.stringMatching(/tiny\.gguf has digest [0-9a-f]{64}, but the plan was made for 00/),
  });
  const settings = { ...request.settings, engine: 'abacus' };
  const engine = { ...request, settings, tokenizerPath: request.modelPath };
  expect(await replay(engine, idle)).toMatchObject({ message: expect.stringContaining('no engine "abacus"') });
  expect(readdirSync(folder)).toEqual([]);
});

it('fails with the sentence by which a prompt is refused', async () => {
  const request = await requestFor(temporaryFolder(), { contextLength: 16 });
  expect(await replay(request, idle)).toEqual({
    kind: 'failed',
    message: expect.stringMatching(/20 tokens.*context 16/),
  });
});

it('ends when nobody waits for it any more', async () => {
  const request = await requestFor(temporaryFolder());
  const folder = watchedFolder();
  const impatience = new AbortController();
  const replayed = replay(request, impatience.signal);
  impatience.abort();
  expect(await replayed).toEqual({ kind: 'interrupted' });
  expect(readdirSync(folder)).toEqual([]);
});
