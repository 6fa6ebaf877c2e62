import { expect, it } from 'vitest';
import { EstimateBasis as Basis, MemoryBreakdown } from '../../../gen/stageplane/v1/planner.js';
import { deviceLoads, fullness } from '../../../src/cli/format/device-load.js';
import { bytesText } from '../../../src/cli/format/estimate.js';
import { alpha } from '../sample.js';

const estimate = (value: number, basis = Basis.ESTIMATE_BASIS_STATIC) => ({ value, unit: 'bytes', basis, note: '' });
const GIB = 1024 ** 3;

it('adds up the stages of one device, and is computed where one part is', () => {
  const memory = [
    MemoryBreakdown.fromPartial({ stageIndex: 0, nodeId: 2n, weights: estimate(GIB), total: estimate(2 * GIB) }),
    MemoryBreakdown.fromPartial({
      stageIndex: 1,
      nodeId: 2n,
      weights: estimate(GIB, Basis.ESTIMATE_BASIS_LEDGER),
      state: estimate(GIB, Basis.ESTIMATE_BASIS_LEDGER),
      total: estimate(2 * GIB),
    }),
  ];
  const [load, ...others] = deviceLoads(memory, [alpha], () => 'cpu');
  expect(others).toEqual([]);
  expect(load).toMatchObject({ stages: [0, 1], device: { deviceId: 'cpu' }, ends: undefined });
  expect([load!.weights, load!.kvCache, load!.buffers, load!.total].map(bytesText)).toEqual([
    '~2.0 GiB',
    '1.0 GiB',
    '~1.0 GiB',
    '~4.0 GiB',
  ]);
  // 4 of 16 GiB are in use already.
  expect(fullness(load!)).toBe(0.5);
});

it('keeps devices of one node apart, and knows nothing of one that it cannot find', () => {
  const [cpu] = alpha.descriptor!.devices;
  const two = { ...alpha, descriptor: { ...alpha.descriptor!, devices: [cpu!, { ...cpu!, deviceId: 'cuda:0' }] } };
  const memory = [0, 1, 2].map((stageIndex) => MemoryBreakdown.fromPartial({ stageIndex, nodeId: 2n }));
  const loads = deviceLoads(memory, [two], (stage) => ['cpu', 'cuda:0', 'tpu'][stage]!);
  expect(loads.map(({ device, stages }) => [device?.deviceId, stages])).toEqual([
    ['cpu', [0]],
    ['cuda:0', [1]],
    [undefined, [2]],
  ]);
  expect(loads.map(fullness)).toEqual([undefined, undefined, undefined]);
});
