import { expect, test } from 'vitest';
import { Node } from '../../gen/stageplane/v1/node.js';
import { PlanRunResponse } from '../../gen/stageplane/v1/orchestrator_service.js';
import { CandidateStatus, MemoryBreakdown, PlacementObjective } from '../../gen/stageplane/v1/planner.js';
import { PlanRejectionKind } from '../../gen/stageplane/v1/rejection.js';
import { emptyForm, isReference, planRequestOf } from '../../src/dashboard/plan/plan-form.js';
import { planView } from '../../src/dashboard/plan/plan-view.js';

const GIB = 2 ** 30;

test('an empty field leaves the choice to the orchestrator, and a full one asks for just that', () => {
  const plain = planRequestOf({ ...emptyForm, model: ' /models/a.gguf ' });
  expect(plain).toMatchObject({
    model: { source: { value: '/models/a.gguf' } },
    settings: { contextLength: 0, engine: '' },
    placement: { value: { constraints: { excludedNodeIds: [], allowKvQuantisation: false } } },
  });
  expect(plain.runtime).toBeUndefined();
  expect(isReference(plain)).toBe(false);
  expect(isReference(planRequestOf({ ...emptyForm, model: 'llama3.1:70b@q4_k_m' }))).toBe(true);
  const full = planRequestOf({
    ...emptyForm,
    model: 'a',
    prompt: 'hi',
    context: '8192',
    minStages: '2',
    maxStages: 'many',
    headroom: '5',
    objective: 'balanced',
    excluded: ['3'],
  });
  const { constraints, objective } = (full.placement as { value: { constraints: object; objective: number } }).value;
  expect(constraints).toMatchObject({ minStages: 2, maxStages: undefined, headroomMillis: 50, excludedNodeIds: [3n] });
  expect(objective).toBe(PlacementObjective.PLACEMENT_OBJECTIVE_BALANCED);
  expect(full).toMatchObject({ runtime: { prompt: { source: { value: 'hi' } } }, settings: { contextLength: 8192 } });
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
