import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { BoundaryBundle } from '../../../src/worker/engine/boundary-bundle.js';
import { ArchitectureAuxStateHook } from '../../../src/worker/engine/hooks.js';
import type { ShardEngine } from '../../../src/worker/engine/shard-engine.js';
import { DecodeRequest, PrefillRequest } from '../../../src/worker/engine/steps.js';
import { TokenOutput } from '../../../src/worker/engine/token-output.js';
import { stageOf, type TestModel } from './pipeline.js';

export interface EngineUnderTest {
  /** An engine that holds nothing yet. */
  make(): ShardEngine;
  /** A model of at least 3 layers and 16 tokens. Called once. */
  model(): Promise<TestModel>;
}

const SESSIONS = 2;
const CONTEXT = 12;
const MICRO_BATCH = 3;
const recipe = { sessions: SESSIONS, contextLength: CONTEXT, microBatch: MICRO_BATCH };

interface StepOptions {
  session?: string;
  at?: number;
  step?: number;
  epoch?: number;
}

const fieldsOf = ({ session = 'a', at = 0, step = 0, epoch = 1 }: StepOptions) => ({
  sessionId: session,
  routeEpoch: epoch,
  position: at,
  idempotencyStep: step,
});
const prefill = (tokenIds: number[], options: StepOptions = {}) =>
  new PrefillRequest({ ...fieldsOf(options), tokenIds });
const expectHit = (tokenIds: number[], options: StepOptions) =>
  new PrefillRequest({ ...fieldsOf(options), tokenIds, cacheExpectation: 'EXPECT_HIT' });
const decode = (tokenId: number, options: StepOptions) => new DecodeRequest({ ...fieldsOf(options), tokenId });

/** What every engine promises, whatever runs the layers: each sentence of the `ShardEngine` contract as a test. */
export function shardEngineContract(name: string, underTest: EngineUnderTest): void {
  describe(`${name} keeps the ShardEngine contract`, () => {
    let model: TestModel;
    beforeAll(async () => {
      model = await underTest.model();
    });

    describe('before a load', () => {
      test('every step answers NOT_LOADED', async () => {
        const engine = underTest.make();
        expect((await engine.prefill(prefill([1]))).status.code).toBe('NOT_LOADED');
        expect((await engine.decode(decode(1, {}))).status.code).toBe('NOT_LOADED');
        expect(engine.capabilities().status.code).toBe('NOT_LOADED');
        expect(engine.cancel('a').code).toBe('NOT_LOADED');
      });

      test('health and metrics answer, and a release is OK', () => {
        const engine = underTest.make();
        expect(engine.health()).toMatchObject({ serving: false, activeSessions: 0 });
        expect(engine.metrics()).toMatchObject({ activeSessions: 0, kvEntries: 0, generatedTokens: 0 });
        expect(engine.release('a').code).toBe('OK');
      });
    });

    describe('load', () => {
      test('tells the architecture and the range', async () => {
        const engine = underTest.make();
        const loaded = await engine.load(stageOf(model, 1, 3, recipe));
        expect(loaded).toMatchObject({ status: { code: 'OK' }, effectiveStart: 1 });
        expect(loaded.architecture).not.toBe('');
        const capabilities = engine.capabilities();
        expect(capabilities).toMatchObject({
          status: { code: 'OK' },
          shardStart: 1,
          shardEnd: 2,
          effectiveStart: 1,
          totalLayers: model.layers,
          architecture: loaded.architecture,
          maxConcurrentSessions: SESSIONS,
          maxContextTokens: CONTEXT,
          supportsMtp: false,
          isHead: false,
        });
        expect(engine.health()).toMatchObject({ status: { code: 'OK' }, serving: true });
      });

      test('is idempotent: the same request again answers the same and reads nothing', async () => {
        const engine = underTest.make();
        const first = await engine.load(stageOf(model, 0, 2, recipe));
        const reports: unknown[] = [];
        const again = await engine.load(stageOf(model, 0, 2, recipe), { onProgress: (report) => reports.push(report) });
        expect(again).toEqual(first);
        expect(reports).toEqual([]);
      });

      test('twice at once is one load', async () => {
        const engine = underTest.make();
        const [first, second] = await Promise.all([
          engine.load(stageOf(model, 0, 2)),
          engine.load(stageOf(model, 0, 2)),
        ]);
        expect(second).toEqual(first);
      });

      test('of another range is refused, and the first one stays', async () => {
        const engine = underTest.make();
        await engine.load(stageOf(model, 0, 2));
        expect((await engine.load(stageOf(model, 0, 1))).status.code).toBe('FAILED_PRECONDITION');
        expect(engine.capabilities().shardEnd).toBe(1);
      });

      test('reports progress from nothing to everything', async () => {
        const reports: { bytesDone: number; bytesTotal: number }[] = [];
        await underTest.make().load(stageOf(model, 0, 1), { onProgress: (report) => reports.push(report) });
        const total = reports[0]!.bytesTotal;
        expect(total).toBeGreaterThan(0);
        expect(reports[0]!.bytesDone).toBe(0);
        expect(reports.at(-1)).toEqual({ bytesDone: total, bytesTotal: total });
        expect(reports.every((report, index) => index === 0 || report.bytesDone >= reports[index - 1]!.bytesDone)).toBe(
          true,
        );
      });

      test('that is aborted answers CANCELLED and can be tried again', async () => {
        const engine = underTest.make();
        const aborted = await engine.load(stageOf(model, 0, 1), { signal: AbortSignal.abort() });
        expect(aborted.status.code).toBe('CANCELLED');
        expect(engine.health().serving).toBe(false);
        expect((await engine.load(stageOf(model, 0, 1))).status.code).toBe('OK');
      });

      test('of a file that is not there is a result, not an exception', async () => {
        const engine = underTest.make();
        const { status } = await engine.load(stageOf({ ...model, path: `${model.path}.missing` }, 0, 1));
        expect(status.code).not.toBe('OK');
        expect(status.message).toContain(`${model.path}.missing`);
        expect(engine.health().serving).toBe(false);
      });

      test('of a model with another number of layers is refused', async () => {
        const { status } = await underTest.make().load(stageOf({ ...model, layers: model.layers + 1 }, 0, 1));
        expect(status.code).toBe('FAILED_PRECONDITION');
      });
    });

    describe('steps of a single stage', () => {
      let engine: ShardEngine;
      beforeEach(async () => {
        engine = underTest.make();
        await engine.load(stageOf(model, 0, model.layers, recipe));
      });

      test('return a sampled token and never logits', async () => {
        const result = await engine.prefill(prefill([1, 2, 3]));
        expect(result).toMatchObject({ status: { code: 'OK' }, cacheResult: 'NOT_REQUESTED' });
        expect(result.output).toBeInstanceOf(TokenOutput);
        const next = await engine.decode(decode(4, { at: 3, step: 1 }));
        expect(next.output).toBeInstanceOf(TokenOutput);
        expect(engine.metrics()).toMatchObject({
          activeSessions: 1,
          kvEntries: 4,
          generatedTokens: 2,
          queuedFrames: 0,
        });
      });

      test('are the same whatever pieces a prompt comes in, when the pieces are micro-batches', async () => {
        const whole = await engine.prefill(prefill([1, 2, 3, 4, 5], { session: 'whole' }));
        await engine.prefill(prefill([1, 2, 3], { session: 'cut' }));
        const cut = await engine.prefill(prefill([4, 5], { session: 'cut', at: 3, step: 1 }));
        expect(cut.output).toEqual(whole.output);
      });

      test('repeat the earlier result and compute nothing', async () => {
        const first = await engine.prefill(prefill([1, 2, 3], { step: 7 }));
        const before = engine.metrics();
        const [again, asDecode] = [
          await engine.prefill(prefill([4, 5], { step: 7 })),
          await engine.decode(decode(1, { at: 3, step: 7 })),
        ];
        expect(again).toEqual(first);
        expect(asDecode).toEqual(first);
        expect(engine.metrics()).toEqual(before);
      });

      test('that come twice at once are computed once', async () => {
        const [first, second] = await Promise.all([engine.prefill(prefill([1, 2])), engine.prefill(prefill([1, 2]))]);
        expect(second).toEqual(first);
        expect(engine.metrics()).toMatchObject({ generatedTokens: 1, kvEntries: 2 });
      });

      test('with a step name whose answer is long gone compute nothing', async () => {
        await engine.prefill(prefill([1]));
        for (let step = 1; step < 10; step++) await engine.decode(decode(step, { at: step, step }));
        const before = engine.metrics();
        expect((await engine.prefill(prefill([1]))).status.code).toBe('FAILED_PRECONDITION');
        expect(engine.metrics()).toEqual(before);
      });

      test('of an older generation answer STALE_EPOCH; a newer one begins without the old sessions', async () => {
        await engine.prefill(prefill([1, 2], { epoch: 2 }));
        expect((await engine.decode(decode(3, { at: 2, step: 1, epoch: 1 }))).status.code).toBe('STALE_EPOCH');
        expect((await engine.prefill(prefill([1], { session: 'b', epoch: 1 }))).status.code).toBe('STALE_EPOCH');
        expect((await engine.decode(decode(3, { at: 2, step: 1, epoch: 3 }))).status.code).toBe('UNKNOWN_SESSION');
        expect(engine.metrics()).toMatchObject({ activeSessions: 0, kvEntries: 0 });
      });

      test('of a session that nobody began answer UNKNOWN_SESSION', async () => {
        expect((await engine.decode(decode(1, { at: 0 }))).status.code).toBe('UNKNOWN_SESSION');
        expect((await engine.prefill(prefill([1], { at: 1 }))).status.code).toBe('UNKNOWN_SESSION');
      });

      test('at a position that does not follow are refused', async () => {
        await engine.prefill(prefill([1, 2, 3]));
        expect((await engine.decode(decode(1, { at: 4, step: 1 }))).status.code).toBe('FAILED_PRECONDITION');
        expect((await engine.decode(decode(1, { at: 2, step: 1 }))).status.code).toBe('FAILED_PRECONDITION');
        expect((await engine.prefill(prefill([1], { at: 2, step: 1 }))).status.code).toBe('FAILED_PRECONDITION');
        expect(engine.metrics().kvEntries).toBe(3);
      });

      test('that expect cached positions answer HIT and go on from there', async () => {
        const fresh = await engine.prefill(prefill([1, 2, 3, 9], { session: 'b' }));
        await engine.prefill(prefill([1, 2, 3, 4, 5]));
        const hit = await engine.prefill(expectHit([9], { at: 3, step: 1 }));
        expect(hit).toMatchObject({ status: { code: 'OK' }, cacheResult: 'HIT' });
        expect(hit.output).toEqual(fresh.output);
        expect(engine.metrics().kvEntries).toBe(8);
      });

      test('that expect more than is cached answer CACHE_MISS and change nothing', async () => {
        expect(await engine.prefill(expectHit([1], { at: 2 }))).toMatchObject({
          status: { code: 'CACHE_MISS' },
          cacheResult: 'MISS',
        });
        expect(engine.metrics().activeSessions).toBe(0);
        await engine.prefill(prefill([1, 2]));
        expect((await engine.prefill(expectHit([1], { at: 3, step: 1 }))).status.code).toBe('CACHE_MISS');
        expect(engine.metrics().kvEntries).toBe(2);
      });

      test('at position 0 begin a session anew', async () => {
        const first = await engine.prefill(prefill([1, 2]));
        await engine.prefill(prefill([5, 6, 7], { step: 1 }));
        const again = await engine.prefill(prefill([1, 2], { step: 2 }));
        expect(again.output).toEqual(first.output);
        expect(engine.metrics().kvEntries).toBe(2);
      });

      test('over maxContextTokens answer RESOURCE_EXHAUSTED and change nothing', async () => {
        const prompt = Array.from({ length: CONTEXT }, (_, index) => index);
        expect((await engine.prefill(prefill([...prompt, 1]))).status.code).toBe('RESOURCE_EXHAUSTED');
        expect(engine.metrics().activeSessions).toBe(0);
        expect((await engine.prefill(prefill(prompt))).status.code).toBe('OK');
        expect((await engine.decode(decode(1, { at: CONTEXT, step: 1 }))).status.code).toBe('RESOURCE_EXHAUSTED');
      });

      test('of one session too many answer RESOURCE_EXHAUSTED until one is released', async () => {
        for (let index = 0; index < SESSIONS; index++) await engine.prefill(prefill([1], { session: `s${index}` }));
        expect((await engine.prefill(prefill([1], { session: 'more' }))).status.code).toBe('RESOURCE_EXHAUSTED');
        engine.release('s0');
        expect((await engine.prefill(prefill([1], { session: 'more' }))).status.code).toBe('OK');
      });

      test('that this stage cannot use answer INVALID_ARGUMENT', async () => {
        const bundle = await bundleOf(underTest, model);
        const asBundle = new PrefillRequest({ ...fieldsOf({}), input: bundle });
        expect((await engine.prefill(asBundle)).status.code).toBe('INVALID_ARGUMENT');
        expect((await engine.prefill(prefill([]))).status.code).toBe('INVALID_ARGUMENT');
        expect((await engine.prefill(prefill([2 ** 31]))).status.code).toBe('INVALID_ARGUMENT');
      });

      test('of two sessions do not touch each other', async () => {
        const alone = await engine.prefill(prefill([1, 2, 3], { session: 'alone' }));
        engine.release('alone');
        await engine.prefill(prefill([1, 2], { session: 'a' }));
        await engine.prefill(prefill([7, 8, 9], { session: 'b' }));
        expect((await engine.decode(decode(3, { session: 'a', at: 2, step: 1 }))).output).toEqual(alone.output);
      });
    });

    describe('cancel and release', () => {
      let engine: ShardEngine;
      beforeEach(async () => {
        engine = underTest.make();
        await engine.load(stageOf(model, 0, model.layers, recipe));
      });

      test('a cancelled session drops its KV and refuses steps until it is released', async () => {
        await engine.prefill(prefill([1, 2]));
        expect(engine.cancel('a', { reason: 'the launcher went away' }).code).toBe('OK');
        expect(engine.cancel('a').code).toBe('OK');
        expect((await engine.decode(decode(3, { at: 2, step: 1 }))).status.code).toBe('CANCELLED');
        expect(engine.metrics()).toMatchObject({ activeSessions: 0, kvEntries: 0, cancelledSessions: 1 });
        engine.release('a');
        expect((await engine.prefill(prefill([1]))).status.code).toBe('OK');
      });

      test('a cancel of a session that nobody knows is a status', () => {
        expect(engine.cancel('nobody').code).toBe('UNKNOWN_SESSION');
      });

      test('a cancel takes effect at the next micro-batch boundary', async () => {
        const running = engine.prefill(prefill([1, 2, 3, 4, 5, 6, 7]));
        await Promise.resolve();
        expect(engine.cancel('a').code).toBe('OK');
        expect((await running).status.code).toBe('CANCELLED');
        expect(engine.metrics().kvEntries).toBe(0);
      });

      test('a cancel of one work item leaves the session as it was before', async () => {
        await engine.prefill(prefill([1, 2]));
        const running = engine.prefill(prefill([3, 4, 5, 6], { at: 2, step: 1 }));
        expect(engine.cancel('a', { workId: '1' }).code).toBe('OK');
        expect((await running).status.code).toBe('CANCELLED');
        expect(engine.metrics()).toMatchObject({ kvEntries: 2, cancelledSessions: 0 });
        expect((await engine.decode(decode(3, { at: 2, step: 2 }))).status.code).toBe('OK');
      });

      test('release is idempotent and forgets everything', async () => {
        await engine.prefill(prefill([1, 2]));
        expect(engine.release('a').code).toBe('OK');
        expect(engine.release('a').code).toBe('OK');
        expect(engine.metrics()).toMatchObject({ activeSessions: 0, kvEntries: 0 });
        expect((await engine.decode(decode(3, { at: 2, step: 1 }))).status.code).toBe('UNKNOWN_SESSION');
      });

      test('a release in the middle of a step ends the step', async () => {
        const running = engine.prefill(prefill([1, 2, 3, 4]));
        engine.release('a');
        expect((await running).status.code).toBe('CANCELLED');
        expect(engine.metrics()).toMatchObject({ activeSessions: 0, kvEntries: 0, inflightBytes: 0 });
      });

      test('metrics see the steps that wait, and are empty again afterwards', async () => {
        const steps = [1, 2, 3].map((step) => engine.prefill(prefill([step], { step })));
        expect(engine.metrics()).toMatchObject({ queuedFrames: 2, inflightBytes: 12 });
        await Promise.all(steps);
        expect(engine.metrics()).toMatchObject({ queuedFrames: 0, inflightBytes: 0 });
      });
    });

    describe('a stage that is not the last', () => {
      test('returns a bundle, and only tensors are in it', async () => {
        const engine = underTest.make();
        const { architecture } = await engine.load(stageOf(model, 0, 1, recipe));
        expect(engine.capabilities()).toMatchObject({ isHead: true, isTail: false });
        const architectureAuxState = new ArchitectureAuxStateHook('window', { kept: 'here' });
        const request = new PrefillRequest({ ...fieldsOf({}), tokenIds: [1, 2, 3, 4, 5], architectureAuxState });
        const { output } = await engine.prefill(request);
        expect(output).toBeInstanceOf(BoundaryBundle);
        expect(output).toMatchObject({ architecture, boundaryPoint: 'blk.0.output' });
        expect(JSON.stringify(output)).not.toContain('window');
        expect((output as BoundaryBundle).tensors[0]!.shape[0]).toBe(5);
        expect(engine.metrics().generatedTokens).toBe(0);
      });

      test('owns the bytes that it returned: a later step does not write into them', async () => {
        const engine = underTest.make();
        await engine.load(stageOf(model, 0, 1, recipe));
        const { output } = await engine.prefill(prefill([1, 2, 3]));
        const { data } = (output as BoundaryBundle).tensors[0]!;
        const before = data.slice();
        await engine.prefill(prefill([7, 8, 9], { at: 3, step: 1 }));
        expect(data).toEqual(before);
      });
    });

    describe('a stage that is not the first', () => {
      let engine: ShardEngine;
      let bundle: BoundaryBundle;
      beforeEach(async () => {
        engine = underTest.make();
        await engine.load(stageOf(model, 1, model.layers, recipe));
        bundle = await bundleOf(underTest, model);
      });
      const withBundle = (input: BoundaryBundle) => new PrefillRequest({ ...fieldsOf({}), input });

      test('takes the bundle of the stage before, from memory at any address', async () => {
        expect(engine.capabilities()).toMatchObject({ isHead: false, isTail: true });
        const first = await engine.prefill(withBundle(bundle));
        expect(first.output).toBeInstanceOf(TokenOutput);
        const [tensor] = bundle.tensors;
        const odd = new Uint8Array(tensor!.data.length + 1).subarray(1);
        odd.set(tensor!.data);
        engine.release('a');
        const moved = new BoundaryBundle({ ...bundle, tensors: [{ ...tensor!, data: odd }] });
        expect((await engine.prefill(withBundle(moved))).output).toEqual(first.output);
      });

      test('refuses token ids and bundles that are not meant for it', async () => {
        const [tensor] = bundle.tensors;
        const wrong = [
          new BoundaryBundle({ ...bundle, architecture: 'another' }),
          new BoundaryBundle({ ...bundle, boundaryPoint: 'blk.7.output' }),
          new BoundaryBundle({ ...bundle, tensors: [{ ...tensor!, name: 'another' }] }),
          new BoundaryBundle({ ...bundle, tensors: [{ ...tensor!, dtype: 'f16' }] }),
          new BoundaryBundle({ ...bundle, tensors: [{ ...tensor!, shape: [1, 3] }] }),
          new BoundaryBundle({ ...bundle, tensors: [{ ...tensor!, data: tensor!.data.subarray(4) }] }),
        ];
        expect((await engine.prefill(prefill([1]))).status.code).toBe('INVALID_ARGUMENT');
        for (const input of wrong) {
          expect((await engine.prefill(withBundle(input))).status.code).toBe('INVALID_ARGUMENT');
        }
        expect(engine.metrics().activeSessions).toBe(0);
      });

      test('decodes exactly one row', async () => {
        await engine.prefill(withBundle(bundle));
        const many = new DecodeRequest({ ...fieldsOf({ at: 2, step: 1 }), input: bundle });
        expect((await engine.decode(many)).status.code).toBe('INVALID_ARGUMENT');
      });
    });
  });
}

/** Two rows out of layer 0. */
async function bundleOf(underTest: EngineUnderTest, model: TestModel): Promise<BoundaryBundle> {
  const head = underTest.make();
  await head.load(stageOf(model, 0, 1, recipe));
  return (await head.prefill(prefill([1, 2]))).output as BoundaryBundle;
}
