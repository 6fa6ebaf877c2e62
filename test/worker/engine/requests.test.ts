import { describe, expect, test } from 'vitest';
import { BoundaryBundle } from '../../../src/worker/engine/boundary-bundle.js';
import { EngineCapabilities } from '../../../src/worker/engine/engine-capabilities.js';
import { EngineTensor } from '../../../src/worker/engine/engine-tensor.js';
import { ArchitectureAuxStateHook, MtpHook } from '../../../src/worker/engine/hooks.js';
import { inclusiveRange } from '../../../src/worker/engine/layer-range.js';
import { LoadRequest } from '../../../src/worker/engine/load.js';
import { healthResult, metricsResult } from '../../../src/worker/engine/observations.js';
import { EngineError, failure, OK, type StatusCode } from '../../../src/worker/engine/status.js';
import { StepResult } from '../../../src/worker/engine/step-result.js';
import { DecodeRequest, PrefillRequest } from '../../../src/worker/engine/steps.js';
import { TokenOutput } from '../../../src/worker/engine/token-output.js';

/** The status that constructing something threw, or undefined when it did not throw. */
function refusalOf(construct: () => unknown): StatusCode | undefined {
  try {
    construct();
    return undefined;
  } catch (error) {
    expect(error).toBeInstanceOf(EngineError);
    expect((error as EngineError).status.message).not.toBe('');
    return (error as EngineError).status.code;
  }
}

const tensor = { name: 'hidden', shape: [1, 2], dtype: 'f32', data: new Uint8Array(8) };
const bundle = { tensors: [new EngineTensor(tensor)], architecture: 'llama', boundaryPoint: 'blk.0.output' };
const load = { artifactPath: 'm.gguf', shardStart: 2, shardEnd: 3, totalLayers: 4 };
const step = { sessionId: '1', routeEpoch: 0, position: 0, idempotencyStep: 0 };
const input = new BoundaryBundle(bundle);

describe('a malformed request throws EngineError when it is constructed', () => {
  test.each<[string, () => unknown]>([
    ['a tensor without a name', () => new EngineTensor({ ...tensor, name: '' })],
    ['a tensor without dimensions', () => new EngineTensor({ ...tensor, shape: [] })],
    ['a tensor with an empty dimension', () => new EngineTensor({ ...tensor, shape: [1, 0] })],
    ['a tensor with half a dimension', () => new EngineTensor({ ...tensor, shape: [1.5] })],
    ['a tensor without a dtype', () => new EngineTensor({ ...tensor, dtype: '' })],
    ['a bundle without tensors', () => new BoundaryBundle({ ...bundle, tensors: [] })],
    ['a bundle without an architecture', () => new BoundaryBundle({ ...bundle, architecture: '' })],
    ['a bundle without a boundary point', () => new BoundaryBundle({ ...bundle, boundaryPoint: '' })],
    ['a bundle with a negative side token', () => new BoundaryBundle({ ...bundle, tokenIdSideband: [-1] })],
    ['a negative sampled token', () => new TokenOutput(-1)],
    ['a negative draft count', () => new MtpHook({ draftTokenCount: -1 })],
    ['a load without a path', () => new LoadRequest({ ...load, artifactPath: '' })],
    ['a load from a negative layer', () => new LoadRequest({ ...load, shardStart: -1 })],
    ['a load that ends before it starts', () => new LoadRequest({ ...load, shardEnd: 1 })],
    ['a load beyond the last layer', () => new LoadRequest({ ...load, totalLayers: 3 })],
    ['a prefill without a session', () => new PrefillRequest({ ...step, sessionId: '', tokenIds: [1] })],
    ['a prefill without an input', () => new PrefillRequest(step)],
    ['a prefill with two inputs', () => new PrefillRequest({ ...step, tokenIds: [1], input })],
    ['a prefill with a negative token', () => new PrefillRequest({ ...step, tokenIds: [-1] })],
    ['a prefill of a negative epoch', () => new PrefillRequest({ ...step, tokenIds: [1], routeEpoch: -1 })],
    ['a prefill at a negative position', () => new PrefillRequest({ ...step, tokenIds: [1], position: -1 })],
    ['a prefill of a negative step', () => new PrefillRequest({ ...step, tokenIds: [1], idempotencyStep: -1 })],
    ['a decode without a session', () => new DecodeRequest({ ...step, sessionId: '', tokenId: 1 })],
    ['a decode without an input', () => new DecodeRequest(step)],
    ['a decode with two inputs', () => new DecodeRequest({ ...step, tokenId: 1, input })],
    ['a decode of a negative token', () => new DecodeRequest({ ...step, tokenId: -1 })],
    ['a decode at half a position', () => new DecodeRequest({ ...step, tokenId: 1, position: 0.5 })],
    ['a success without an output', () => new StepResult({ status: OK })],
  ])('%s', (_, construct) => {
    expect(refusalOf(construct)).toBe('INVALID_ARGUMENT');
  });

  test('multi-token prediction is reserved: enabling it throws', () => {
    expect(refusalOf(() => new MtpHook({ enabled: true }))).toBe('UNIMPLEMENTED');
  });
});

describe('a well-formed request has the defaults of the contract', () => {
  test('prefill and decode', () => {
    const prefill = new PrefillRequest({ ...step, tokenIds: [0] });
    expect(prefill.cacheExpectation).toBe('NONE');
    expect(prefill.mtp).toEqual(new MtpHook());
    expect(prefill.mtp).toMatchObject({ enabled: false, draftTokenCount: 0, auxState: undefined });
    expect(prefill.architectureAuxState).toBeUndefined();
    expect(new DecodeRequest({ ...step, input }).tokenId).toBeUndefined();
  });

  test('load has an empty recipe', () => {
    expect(new LoadRequest(load).recipe).toEqual({});
  });

  test('results', () => {
    expect(new StepResult({ status: failure('INTERNAL', 'x') })).toMatchObject({ cacheResult: 'NOT_REQUESTED' });
    expect(healthResult()).toEqual({ status: OK, serving: false, state: 'UNKNOWN', activeSessions: 0 });
    expect(Object.values(metricsResult()).slice(1)).toEqual([0, 0, 0, 0, 0, 0]);
    expect(new EngineCapabilities({ status: OK }).supportsMtp).toBe(false);
  });
});

test('a bundle finds its tensors by name', () => {
  expect(input.tensor('hidden')).toBe(bundle.tensors[0]);
  expect(input.tensor('other')).toBeUndefined();
});

test('state of an architecture is left out of everything that is written as JSON', () => {
  const hook = new ArchitectureAuxStateHook('window', { secret: 1 });
  expect(JSON.stringify({ hook, others: [hook] })).toBe('{"others":[null]}');
});

test('head and tail follow from the range', () => {
  const at = (shardStart: number, shardEnd: number) =>
    new EngineCapabilities({ status: OK, shardStart, shardEnd, totalLayers: 4 });
  expect([at(0, 3), at(0, 1), at(1, 2), at(2, 3)].map(({ isHead, isTail }) => [isHead, isTail])).toEqual([
    [true, true],
    [true, false],
    [false, false],
    [false, true],
  ]);
});

test('a half-open range of one layer starts and ends at that layer', () => {
  expect(inclusiveRange(3, 4)).toEqual({ shardStart: 3, shardEnd: 3 });
});
