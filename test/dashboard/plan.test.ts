import { expect, test } from 'vitest';
import { Node } from '../../gen/stageplane/v1/node.js';
import { PlanRunResponse } from '../../gen/stageplane/v1/orchestrator_service.js';
import {
  CandidateStatus,
  MemoryBreakdown,
  PlacementConstraints,
  PlacementObjective,
} from '../../gen/stageplane/v1/planner.js';
import { PlanRejectionKind } from '../../gen/stageplane/v1/rejection.js';
import { emptyForm, noWish, type PlanForm } from '../../src/dashboard/plan/plan-form.js';
import { isReference, planRequestOf } from '../../src/dashboard/plan/plan-request.js';
import { planView } from '../../src/dashboard/plan/plan-view.js';

const GIB = 2 ** 30;

const form = { ...emptyForm, model: ' /models/a.gguf ' };

/** What the form asks of the orchestrator's choice. */
function constraintsOf(asked: Partial<PlanForm>) {
  const { placement } = planRequestOf({ ...form, ...asked });
  return placement?.$case === 'automatic' ? placement.value.constraints : undefined;
}

test('an empty field leaves the choice to the orchestrator', () => {
  const plain = planRequestOf(form);
  expect(plain).toMatchObject({
    model: { source: { value: '/models/a.gguf' } },
    settings: { contextLength: 0, engine: '', kvCacheType: 0, threads: 0, microBatch: 0, flashAttention: false },
    placement: { value: { objective: PlacementObjective.PLACEMENT_OBJECTIVE_FASTEST } },
  });
  expect(plain.runtime).toBeUndefined();
  expect(constraintsOf({})).toEqual(PlacementConstraints.fromPartial({}));
});

test('a full field asks for just that', () => {
  const full = planRequestOf({
    ...form,
    prompt: 'hi',
    context: '8192',
    placement: 'balanced',
    kvCacheType: 'q8_0',
    threads: '4',
    microBatch: '64',
    flashAttention: true,
    maxTokens: '20',
    temperature: '0.7',
  });
  expect(full).toMatchObject({
    placement: { value: { objective: PlacementObjective.PLACEMENT_OBJECTIVE_BALANCED } },
    runtime: { prompt: { source: { value: 'hi' } }, maxTokens: 20, sampling: { temperatureMillis: 700 } },
    settings: { contextLength: 8192, kvCacheType: 2, threads: 4, microBatch: 64, flashAttention: true },
  });
  expect(planRequestOf({ ...form, maxTokens: '20' }).runtime).toMatchObject({ maxTokens: 20, prompt: undefined });
});

test('limits bound the choice; what is no number bounds nothing', () => {
  const limits = { minStages: '2', maxStages: 'many', headroom: '5', secondsPerToken: '0.25' };
  expect(constraintsOf(limits)).toMatchObject({ minStages: 2, headroomMillis: 50, maxMicrosecondsPerToken: 250_000n });
  expect(constraintsOf(limits)?.maxStages).toBeUndefined();
  expect(constraintsOf({ headroom: '0' })?.headroomMillis).toBe(0);
});

test('a node may be left out, hold certain stages, or no more than some layers', () => {
  const nodes = {
    '2': { ...noWish, pinned: '0, 2', maxLayers: '12' },
    '3': { ...noWish, isExcluded: true },
    '4': noWish,
  };
  expect(constraintsOf({ nodes })).toMatchObject({
    excludedNodeIds: [3n],
    pins: [
      { stageIndex: 0, nodeId: 2n },
      { stageIndex: 2, nodeId: 2n },
    ],
    layerCaps: [{ nodeId: 2n, maxLayers: 12 }],
  });
});

test('a node that is left out holds nothing, whatever was asked of it before', () => {
  const nodes = { '2': { isExcluded: true, pinned: '0', maxLayers: '12' } };
  expect(constraintsOf({ nodes })).toMatchObject({ excludedNodeIds: [2n], pins: [], layerCaps: [] });
});

test('a given placement names the node of each stage, and the layers of all or of none', () => {
  const even = [
    { node: '3', layers: '' },
    { node: '2', layers: '' },
  ];
  expect(planRequestOf({ ...form, placement: 'given', stages: even }).placement).toMatchObject({
    $case: 'fixedLinear',
    value: {
      stages: [
        { stageIndex: 0, nodeId: 3n },
        { stageIndex: 1, nodeId: 2n },
      ],
    },
  });
  const ranges = [
    { node: '3', layers: '0-12' },
    { node: '2', layers: '12-30' },
  ];
  expect(planRequestOf({ ...form, placement: 'given', stages: ranges }).placement).toMatchObject({
    $case: 'layerRanges',
    value: {
      stages: [
        { layerStart: 0, layerEndExclusive: 12 },
        { stageIndex: 1, nodeId: 2n, layerStart: 12 },
      ],
    },
  });
});

test('a model of the catalogue is told from a file', () => {
  expect(isReference(planRequestOf(form))).toBe(false);
  expect(isReference(planRequestOf({ ...form, model: 'llama3.1:70b@q4_k_m' }))).toBe(true);
});

const alpha = Node.fromPartial({
  nodeId: 2n,
  name: 'alpha',
  descriptor: { devices: [{ deviceId: 'cpu', totalBytes: BigInt(10 * GIB), freeBytes: BigInt(8 * GIB) }] },
});
const bytes = (value: number) => ({ value, unit: 'bytes', basis: 1, note: '' });

test('each candidate shows what it takes of each device; what does not fit makes the bar as long as the need', () => {
  const memory = (total: number) =>
    MemoryBreakdown.fromPartial({
      nodeId: 2n,
      weights: bytes(total / 2),
      kvCache: bytes(total / 4),
      total: bytes(total),
    });
  const candidate = { name: 'single-node', stageCount: 1, reasons: [], tokensPerSecond: undefined };
  const { candidates } = planView(
    PlanRunResponse.fromPartial({
      outcome: { $case: 'plan', value: {} },
      report: {
        candidates: [
          { ...candidate, status: CandidateStatus.CANDIDATE_STATUS_SELECTED, memory: [memory(4 * GIB)] },
          { ...candidate, status: CandidateStatus.CANDIDATE_STATUS_INFEASIBLE, memory: [memory(38 * GIB)] },
        ],
      },
    }),
    [alpha],
  );
  const shares = candidates.map(({ devices }) =>
    Object.fromEntries(devices[0]!.parts.map(({ kind, share }) => [kind, Number(share.toFixed(3))])),
  );
  expect(shares[0]).toEqual({ other: 0.2, weights: 0.2, kv: 0.1, ends: 0, buffers: 0.1, free: 0.4 });
  expect(shares[1]).toMatchObject({ other: 0.05, weights: 0.475, free: 0 });
  expect(candidates.map(({ isSelected, devices }) => [isSelected, devices[0]?.full])).toEqual([
    [true, '60% of 10.0 GiB'],
    [false, '400% of 10.0 GiB'],
  ]);
});

test('a rejection is told with its nearest miss', () => {
  const view = planView(
    PlanRunResponse.fromPartial({
      outcome: {
        $case: 'rejection',
        value: {
          kind: PlanRejectionKind.PLAN_REJECTION_KIND_INSUFFICIENT_MEMORY,
          message: 'too large',
          violations: [],
        },
      },
      report: { noValidPlanHint: { text: 'give node "alpha" 2 GiB more' } },
    }),
    [alpha],
  );
  expect(view.outcome).toMatchObject({ kind: 'rejected', reason: 'insufficient memory', message: 'too large' });
  expect(view.nearestMiss).toBe('give node "alpha" 2 GiB more');
});
