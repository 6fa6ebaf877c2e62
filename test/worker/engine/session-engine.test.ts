import { expect, test } from 'vitest';
import { limits } from '../../../src/core/limits.js';
import type { BoundaryBundle } from '../../../src/worker/engine/boundary-bundle.js';
import { LoadRequest } from '../../../src/worker/engine/load.js';
import { SessionEngine } from '../../../src/worker/engine/session-engine.js';
import type { StageLayers, StepInput } from '../../../src/worker/engine/stage-layers.js';
import { PrefillRequest } from '../../../src/worker/engine/steps.js';

/** Layers that write down what is asked of them; `onRun` may interfere. */
function scriptedLayers(options: { onRun?: (position: number) => void; canTruncate?: boolean } = {}) {
  const calls: string[] = [];
  const layers: StageLayers = {
    architecture: 'scripted',
    effectiveStart: 0,
    hiddenDim: 1,
    vocabularySize: 1000,
    footprint: { bytesRead: 0, bytesDigest: '', deviceBytes: 0 },
    run(session, position, input: StepInput) {
      const ids = input.kind === 'tokens' ? input.ids : [...input.values];
      calls.push(`run ${session} at ${position}: ${ids}`);
      options.onRun?.(position);
      return { kind: 'rows', values: Float32Array.from(ids) };
    },
    truncate(session, position) {
      calls.push(`truncate ${session} to ${position}`);
      return options.canTruncate ?? true;
    },
    drop(session) {
      calls.push(`drop ${session}`);
    },
    async close() {
      calls.push('close');
    },
  };
  return { calls, layers };
}

async function engineOf(layers: StageLayers): Promise<SessionEngine> {
  const engine = new SessionEngine(async () => ({ kind: 'loaded', layers }));
  const recipe = { microBatch: 2, sessions: 4 };
  await engine.load(new LoadRequest({ artifactPath: 'm', shardStart: 0, shardEnd: 0, totalLayers: 2, recipe }));
  return engine;
}

const prefill = (tokenIds: number[], position = 0, idempotencyStep = 0, expectHit = false) =>
  new PrefillRequest({
    sessionId: 'a',
    routeEpoch: 1,
    position,
    idempotencyStep,
    tokenIds,
    cacheExpectation: expectHit ? 'EXPECT_HIT' : 'NONE',
  });

test('a prompt is cut into micro-batches and its rows come back in order', async () => {
  const { calls, layers } = scriptedLayers();
  const result = await (await engineOf(layers)).prefill(prefill([1, 2, 3, 4, 5]));
  expect(calls).toEqual(['run a at 0: 1,2', 'run a at 2: 3,4', 'run a at 4: 5']);
  const [tensor] = (result.output as BoundaryBundle).tensors;
  expect(tensor!.shape).toEqual([5, 1]);
  expect([...new Float32Array(tensor!.data.buffer)]).toEqual([1, 2, 3, 4, 5]);
});

test('a cancel that arrives during a micro-batch ends the step before the next one', async () => {
  const { calls, layers } = scriptedLayers({ onRun: () => setImmediate(() => engine.cancel('a')) });
  const engine = await engineOf(layers);
  expect((await engine.prefill(prefill([1, 2, 3, 4, 5]))).status.code).toBe('CANCELLED');
  expect(calls).toEqual(['run a at 0: 1,2', 'drop a']);
});

test('an engine that throws answers INTERNAL and the session is as it was before', async () => {
  const { calls, layers } = scriptedLayers({
    onRun: (position) => {
      if (position === 4) throw new Error('a kernel failed');
    },
  });
  const engine = await engineOf(layers);
  await engine.prefill(prefill([1, 2]));
  const { status } = await engine.prefill(prefill([3, 4, 5], 2, 1));
  expect(status).toMatchObject({ code: 'INTERNAL', message: expect.stringContaining('a kernel failed') });
  expect(calls.at(-1)).toBe('truncate a to 2');
  expect(engine.metrics().kvEntries).toBe(2);
});

test('a first step that fails leaves no session behind', async () => {
  const { layers } = scriptedLayers({
    onRun: () => {
      throw new Error('no');
    },
  });
  const engine = await engineOf(layers);
  await engine.prefill(prefill([1]));
  expect(engine.metrics().activeSessions).toBe(0);
});

test('a failed step may be tried again under its name', async () => {
  let failures = 1;
  const { layers } = scriptedLayers({
    onRun: () => {
      if (failures-- > 0) throw new Error('once');
    },
  });
  const engine = await engineOf(layers);
  expect((await engine.prefill(prefill([1]))).status.code).toBe('INTERNAL');
  expect((await engine.prefill(prefill([1]))).status.code).toBe('OK');
});

test('layers that cannot go back answer CACHE_MISS and drop the session', async () => {
  const { layers } = scriptedLayers({ canTruncate: false });
  const engine = await engineOf(layers);
  await engine.prefill(prefill([1, 2, 3]));
  expect(await engine.prefill(prefill([9], 2, 1, true))).toMatchObject({
    status: { code: 'CACHE_MISS' },
    cacheResult: 'MISS',
  });
  expect(engine.metrics()).toMatchObject({ activeSessions: 0, kvEntries: 0 });
  expect((await engine.prefill(prefill([1, 2, 9], 0, 2))).status.code).toBe('OK');
});

test('steps beyond the bounded queue are refused at once (I16)', async () => {
  const { layers } = scriptedLayers();
  const engine = await engineOf(layers);
  const steps = Array.from({ length: limits.queuedSteps + 1 }, (_, step) => engine.prefill(prefill([1], 0, step)));
  const codes = (await Promise.all(steps)).map(({ status }) => status.code);
  expect(codes.filter((code) => code === 'RESOURCE_EXHAUSTED')).toHaveLength(1);
  expect(codes.at(-1)).toBe('RESOURCE_EXHAUSTED');
});

test('a loader that throws is a failed load', async () => {
  const engine = new SessionEngine(async () => {
    throw new Error('no library');
  });
  const loaded = await engine.load(new LoadRequest({ artifactPath: 'm', shardStart: 0, shardEnd: 0, totalLayers: 1 }));
  expect(loaded.status).toMatchObject({ code: 'INTERNAL', message: expect.stringContaining('no library') });
  expect(engine.health().serving).toBe(false);
});

test('a close ends the steps that run and wait, and then frees the layers', async () => {
  const { calls, layers } = scriptedLayers();
  const engine = await engineOf(layers);
  const steps = [engine.prefill(prefill([1, 2, 3, 4])), engine.prefill(prefill([5], 4, 1))];
  // The first micro-batch of the first step has run when its turn comes.
  await Promise.resolve();
  await engine.close();
  expect((await Promise.all(steps)).map(({ status }) => status.code)).toEqual(['CANCELLED', 'CANCELLED']);
  expect(calls.at(-1)).toBe('close');
  expect((await engine.prefill(prefill([1]))).status.code).toBe('NOT_LOADED');
  await engine.close();
  expect(calls.filter((call) => call === 'close')).toHaveLength(1);
});
