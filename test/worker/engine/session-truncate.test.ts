import { expect, test } from 'vitest';
import { BoundaryBundle } from '../../../src/worker/engine/boundary-bundle.js';
import { LoadRequest } from '../../../src/worker/engine/load.js';
import { SessionEngine } from '../../../src/worker/engine/session-engine.js';
import type { StageLayers } from '../../../src/worker/engine/stage-layers.js';
import { boundaryAfter, hiddenTensorOf } from '../../../src/worker/engine/step-input.js';
import { PrefillRequest } from '../../../src/worker/engine/steps.js';

/** The second of two layers; it writes down what it is asked. */
async function lastStage({ canTruncate }: { canTruncate: boolean }) {
  const calls: string[] = [];
  const layers: StageLayers = {
    architecture: 'scripted',
    effectiveStart: 1,
    hiddenDim: 2,
    vocabularySize: 1000,
    footprint: { bytesRead: 0, bytesDigest: '', deviceBytes: 0 },
    run(_, position, input) {
      calls.push(`run at ${position}: ${input.kind === 'rows' ? [...input.values] : input.ids}`);
      return { kind: 'token', tokenId: position };
    },
    truncate(_, position) {
      calls.push(`truncate to ${position}`);
      return canTruncate;
    },
    drop: () => calls.push('drop'),
    close: async () => {},
  };
  const engine = new SessionEngine(async () => ({ kind: 'loaded', layers }));
  await engine.load(new LoadRequest({ artifactPath: 'm', shardStart: 1, shardEnd: 1, totalLayers: 2 }));
  return { engine, calls };
}

const rows = (data: Uint8Array, position = 0) =>
  new PrefillRequest({
    sessionId: 'a',
    routeEpoch: 1,
    position,
    idempotencyStep: position,
    input: new BoundaryBundle({
      tensors: [hiddenTensorOf(data, 2)],
      architecture: 'scripted',
      boundaryPoint: boundaryAfter(0),
    }),
  });

const floats = (...values: number[]) => new Uint8Array(Float32Array.from(values).buffer);

test('rows that lie anywhere in a larger buffer, as an edge gives them, are read where they lie', async () => {
  const { engine, calls } = await lastStage({ canTruncate: true });
  const stream = Buffer.concat([Buffer.from('x'), floats(1, 2, 3, 4), Buffer.from('yz')]);
  expect((await engine.prefill(rows(stream.subarray(1, 17)))).status.code).toBe('OK');
  expect(calls).toEqual(['run at 0: 1,2,3,4']);
});

test('a session is truncated to what it holds, and goes on from there', async () => {
  const { engine, calls } = await lastStage({ canTruncate: true });
  await engine.prefill(rows(floats(1, 2, 3, 4, 5, 6)));
  expect(engine.truncate('a', 3).code).toBe('OK');
  expect(engine.truncate('a', 1).code).toBe('OK');
  expect(engine.metrics().kvEntries).toBe(1);
  expect(engine.truncate('a', 2)).toMatchObject({
    code: 'CACHE_MISS',
    message: expect.stringContaining('1 positions'),
  });
  expect((await engine.prefill(rows(floats(9, 9), 1))).status.code).toBe('OK');
  expect(calls).toEqual(['run at 0: 1,2,3,4,5,6', 'truncate to 1', 'run at 1: 9,9']);
});

test('an architecture that cannot go back drops the session and says so', async () => {
  const { engine, calls } = await lastStage({ canTruncate: false });
  await engine.prefill(rows(floats(1, 2, 3, 4)));
  expect(engine.truncate('a', 1).code).toBe('CACHE_MISS');
  expect(engine.metrics().activeSessions).toBe(0);
  expect(calls.at(-1)).toBe('drop');
  expect(engine.truncate('a', 0).code).toBe('OK');
});

test('a session with a step under way is not truncated', async () => {
  const { engine } = await lastStage({ canTruncate: true });
  const step = engine.prefill(rows(floats(1, 2)));
  expect(engine.truncate('a', 0).code).toBe('FAILED_PRECONDITION');
  expect((await step).status.code).toBe('OK');
});
