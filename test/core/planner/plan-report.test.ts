import { describe, expect, it } from 'vitest';
import { CandidateStatus, type PlanCandidate, PlanReport } from '../../../gen/stageplane/v1/planner.js';
import { Fidelity, KvCacheType, type StageSettings } from '../../../gen/stageplane/v1/provision.js';
import { canonicalPlanKey, planReport, type ReportSubject } from '../../../src/core/planner/plan-report.js';
import { planRun } from '../../../src/core/planner/plan-run.js';
import { fixedLinear, planOf, sampleInput, sampleRing, wideInput } from './sample-input.js';

const settings: StageSettings = {
  engine: 'fixture',
  device: 'cpu',
  totalLayers: 10,
  contextLength: 128,
  kvCacheType: KvCacheType.KV_CACHE_TYPE_F16,
  microBatch: 32,
  flashAttention: false,
  threads: 1,
  sessions: 1,
  seed: 0n,
  modelDigest: '',
  expectedBytes: 0n,
  fidelity: Fidelity.FIDELITY_FAST,
  reservedBytes: 0n,
};

const candidate: PlanCandidate = {
  name: 'given',
  strategy: 'given',
  stageCount: 3,
  status: CandidateStatus.CANDIDATE_STATUS_SELECTED,
  memory: [],
  secondsPerToken: undefined,
  tokensPerSecond: undefined,
  profilingRequired: false,
  reasons: [],
};

describe('the report of a plan', () => {
  it('has its candidates, and the placement with its ranges', () => {
    const report = reportOf({});
    expect(report.candidates).toEqual([candidate]);
    expect(report.selected).toMatchObject({ planId: 'id', strategy: 'given' });
    expect(report.selected?.placement?.stages).toEqual([
      { stageIndex: 0, nodeId: 2n, layerStart: 0, layerEndExclusive: 3 },
      { stageIndex: 1, nodeId: 3n, layerStart: 3, layerEndExclusive: 6 },
      { stageIndex: 2, nodeId: 4n, layerStart: 6, layerEndExclusive: 10 },
    ]);
    expect([report.warnings, report.fidelity, report.nodesConsidered]).toEqual([[], 'mixed', 4]);
    expect(PlanReport.decode(PlanReport.encode(report).finish())).toEqual(report);
  });

  it('selects nothing after a rejection', () => {
    const input = sampleInput({ stageCount: 0 });
    const outcome = planRun(input);
    if (outcome.kind !== 'rejected') throw new Error('no stages cannot be planned');
    expect(planReport({ ...given({}), input, outcome }).selected).toBeUndefined();
  });

  it('warns of ignored placements', () => {
    const placement = fixedLinear([0, 2n], [1, 3n], [2, 4n], [9, 2n], [7, 2n]);
    expect(reportOf({ placement }).warnings).toEqual([
      'the placement of stages 9 and 7 is ignored, because stage_count is 3: remove it, or raise stage_count',
    ]);
  });

  it('warns of an activation ring below one micro-batch, and not at it', () => {
    // 40 + 32 rows * 64 elements * 4 bytes
    expect(reportOf({ activationRing: sampleRing(8232n) }).warnings).toEqual([]);
    expect(reportOf({ activationRing: sampleRing(8231n) }).warnings).toEqual([
      'the activation ring holds 8231 bytes, less than one micro-batch of 32 rows: raise activation_ring.data_capacity ' +
        'to 8232 so that neighbouring stages need not wait for each other',
    ]);
  });

  it('warns of a node with several stages, however many, in one readable sentence', () => {
    expect(reportOf({ placement: fixedLinear([0, 2n], [1, 3n], [2, 2n]) }).warnings).toEqual([
      'node 2 holds stages 0 and 2, which share its memory: spread them over more nodes',
    ]);
    expect(reportOf(wideInput(40)).warnings).toEqual([
      'node 2 holds stages 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 and 24 more, which share its memory: ' +
        'spread them over more nodes',
    ]);
  });
});

describe('the text behind a plan id', () => {
  const plan = planOf(sampleInput());
  const key = canonicalPlanKey('digest', plan, [settings]);

  it('does not depend on the run or on the order of placements', () => {
    const placement = fixedLinear([2, 4n], [0, 2n], [1, 3n]);
    expect(canonicalPlanKey('digest', planOf(sampleInput({ runId: 8n, placement })), [settings])).toBe(key);
  });

  it('depends on request, placement and settings', () => {
    const elsewhere = planOf(sampleInput({ placement: fixedLinear([0, 3n], [1, 2n], [2, 4n]) }));
    const others = [
      canonicalPlanKey('other', plan, [settings]),
      canonicalPlanKey('digest', elsewhere, [settings]),
      canonicalPlanKey('digest', plan, [{ ...settings, seed: 1n }]),
    ];
    expect(new Set([key, ...others]).size).toBe(4);
  });

  it('does not depend on what earlier runs measured', () => {
    expect(canonicalPlanKey('digest', plan, [{ ...settings, reservedBytes: 1000n }])).toBe(key);
  });
});

function reportOf(change: Parameters<typeof sampleInput>[0], stage: StageSettings = settings): PlanReport {
  return planReport(given(change, stage));
}

function given(change: Parameters<typeof sampleInput>[0], stage: StageSettings = settings): ReportSubject {
  const input = sampleInput(change);
  const plan = planOf(input);
  return {
    requestDigest: 'digest',
    input,
    outcome: { kind: 'planned', plan, planId: 'id', settings: plan.stages.map(() => stage) },
    candidates: [candidate],
    exclusions: [{ nodeId: 5n, nodeName: 'gpu-b', reason: 'cordoned', message: 'node "gpu-b" is cordoned' }],
    nodesConsidered: 4,
    strategy: 'given',
    selectedBecause: ['it was asked for'],
    warnings: [],
    fidelity: 'mixed',
  };
}
