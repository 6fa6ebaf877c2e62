import { expect, test } from 'vitest';
import { LoadRequest } from '../../../src/worker/engine/load.js';
import { SessionEngine } from '../../../src/worker/engine/session-engine.js';
import type { StageLayers } from '../../../src/worker/engine/stage-layers.js';

/** Layers whose token is the position after the last row; they write down what they run and drop. */
function countingLayers(onRun: (position: number) => void = () => {}) {
  const calls: string[] = [];
  const layers: StageLayers = {
    architecture: 'counting',
    effectiveStart: 0,
    hiddenDim: 1,
    vocabularySize: 100,
    footprint: { bytesRead: 0, bytesDigest: '', deviceBytes: 0 },
    run(session, position, input) {
      const ids = input.kind === 'tokens' ? input.ids : [...input.values];
      calls.push(`run ${session} at ${position}: ${ids}`);
      onRun(position);
      return { kind: 'token', tokenId: position + ids.length };
    },
    truncate(session, position) {
      calls.push(`truncate ${session} to ${position}`);
      return true;
    },
    drop(session) {
      calls.push(`drop ${session}`);
    },
    async close() {},
  };
  return { calls, layers };
}

async function engineOf(layers: StageLayers): Promise<SessionEngine> {
  const engine = new SessionEngine(async () => ({ kind: 'loaded', layers }));
  const recipe = { microBatch: 2, sessions: 1, contextLength: 8 };
  await engine.load(new LoadRequest({ artifactPath: 'm', shardStart: 0, shardEnd: 0, totalLayers: 1, recipe }));
  return engine;
}

const next = (sessionId: string, position: number, ids: number[]) => ({
  sessionId,
  workId: 7,
  position,
  input: { kind: 'tokens' as const, ids },
});

test('one micro-batch has run when the call returns', async () => {
  const { layers } = countingLayers();
  const engine = await engineOf(layers);
  expect(engine.runNext(next('a', 0, [5, 6]))).toEqual({ kind: 'done', output: { kind: 'token', tokenId: 2 } });
  expect(engine.runNext(next('a', 2, [9]))).toEqual({ kind: 'done', output: { kind: 'token', tokenId: 3 } });
  expect(engine.metrics().kvEntries).toBe(3);
});

test('several run one after the other, and a cancel of their work ends them between two', async () => {
  const { calls, layers } = countingLayers((position) => {
    if (position === 2) setImmediate(() => engine.cancel('a', { workId: '7' }));
  });
  const engine = await engineOf(layers);
  const outcome = await engine.runNext(next('a', 0, [1, 2, 3, 4, 5, 6]));
  expect(outcome).toMatchObject({ kind: 'failed', status: { code: 'CANCELLED' } });
  expect(calls).toEqual(['run a at 0: 1,2', 'run a at 2: 3,4', 'drop a']);
  expect(engine.metrics().kvEntries).toBe(0);
});

test('rows that fail leave their session as it was', async () => {
  const { calls, layers } = countingLayers((position) => {
    if (position === 2) throw new Error('a kernel failed');
  });
  const engine = await engineOf(layers);
  engine.runNext(next('a', 0, [1, 2]));
  const outcome = await engine.runNext(next('a', 2, [3]));
  expect(outcome).toMatchObject({ kind: 'failed', status: { code: 'INTERNAL' } });
  expect(calls.at(-1)).toBe('truncate a to 2');
  expect(engine.metrics().kvEntries).toBe(2);
});

test('what a stage cannot take is refused before anything runs', async () => {
  const { calls, layers } = countingLayers();
  const engine = await engineOf(layers);
  engine.runNext(next('a', 0, [1]));
  const refusals = [next('a', 1, [100]), next('a', 1, [1, 2, 3, 4, 5, 6, 7, 8]), next('b', 0, [1])];
  expect(refusals.map((rows) => engine.runNext(rows))).toMatchObject([
    { status: { code: 'INVALID_ARGUMENT', message: expect.stringContaining('token 100') } },
    { status: { code: 'RESOURCE_EXHAUSTED', message: expect.stringContaining('would hold 9 tokens') } },
    { status: { code: 'RESOURCE_EXHAUSTED', message: expect.stringContaining('all 1 sessions') } },
  ]);
  expect(calls).toHaveLength(1);
});

test('nothing runs before a load', () => {
  const engine = new SessionEngine(async () => ({ kind: 'loaded', layers: countingLayers().layers }));
  expect(engine.runNext(next('a', 0, [1]))).toMatchObject({ kind: 'failed', status: { code: 'NOT_LOADED' } });
});
