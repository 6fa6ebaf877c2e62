import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DeviceKind } from '../../../gen/stageplane/v1/node.js';
import {
  CandidateStatus,
  EstimateBasis,
  type PlacementConstraints,
  PlacementObjective,
  PlanReport,
  PlanRequest,
} from '../../../gen/stageplane/v1/planner.js';
import { Fidelity, KvCacheType, StageSettings } from '../../../gen/stageplane/v1/provision.js';
import { PlanRejectionKind as Kind } from '../../../gen/stageplane/v1/rejection.js';
import { nodeId, runId } from '../../../src/core/ids.js';
import { planRequest } from '../../../src/core/planner/plan-request.js';
import type { PlanningRequest } from '../../../src/core/planner/planning-request.js';
import type { PoolNode } from '../../../src/core/planner/pool-node.js';
import { sampleFacts } from '../machine/samples.js';
import { headsOf, sampleInspection } from '../model/samples.js';

const MIB = 1024 ** 2;
const GIB = 1024 ** 3;

/** 16 layers of 100 MiB each, an embedding of 200 MiB and a head of 300 MiB. */
const sample = sampleInspection({
  attention: Array.from({ length: 16 }, () => headsOf(32, 8, 64)),
  layerBytes: Array.from({ length: 16 }, () => BigInt(100 * MIB)),
  embeddingBytes: BigInt(200 * MIB),
  headBytes: BigInt(300 * MIB),
  inspection: { digest: 'd'.repeat(64) },
});

const inspection = { ...sample, facts: { ...sampleFacts, numLayers: 16, maxSeqLen: 32_768n } };

function node(id: bigint, bytes: number, change: Partial<PoolNode> = {}): PoolNode {
  return {
    nodeId: nodeId(id),
    name: `node-${id}`,
    engines: [{ name: 'fixture', build: '1', deviceIds: ['cpu'], features: [] }],
    physicalCores: 4,
    reservedThreads: [],
    devices: [deviceOf(bytes)],
    labels: {},
    ...change,
  };
}

function deviceOf(size: number, reserved = 0): PoolNode['devices'][number] {
  const bytes = Math.floor(size);
  return {
    deviceId: 'cpu',
    kind: DeviceKind.DEVICE_KIND_CPU,
    name: '',
    totalBytes: BigInt(bytes),
    freeBytes: BigInt(bytes),
    stages: reserved > 0 ? [{ reservedBytes: BigInt(reserved), residentBytes: 0n }] : [],
  };
}

interface Asked {
  readonly constraints?: Partial<PlacementConstraints>;
  readonly objective?: PlacementObjective;
  readonly request?: Partial<PlanRequest>;
}

function planning(
  pool: readonly PoolNode[],
  asked: Asked = {},
  change: Partial<PlanningRequest> = {},
): PlanningRequest {
  const { constraints, objective = PlacementObjective.PLACEMENT_OBJECTIVE_UNSPECIFIED, request } = asked;
  const automatic = { constraints, objective };
  const plan = PlanRequest.fromPartial({ model: { source: { $case: 'localPath', value: 'm.gguf' } } });
  const placement = PlanRequest.fromPartial({ placement: { $case: 'automatic', value: automatic } }).placement!;
  return {
    request: { ...plan, placement, ...request },
    inspection,
    pool,
    runId: runId(1n),
    sha256: (text) => createHash('sha256').update(text).digest('hex'),
    ...change,
  };
}

function planned(...args: Parameters<typeof planning>) {
  const outcome = planRequest(planning(...args));
  if (outcome.kind === 'rejected') throw new Error(outcome.rejection.message);
  return outcome;
}

function rejected(...args: Parameters<typeof planning>) {
  const outcome = planRequest(planning(...args));
  if (outcome.kind === 'planned') throw new Error('planned');
  return outcome;
}

const rangesOf = ({ plan }: ReturnType<typeof planned>) =>
  plan.stages.map(({ nodeId, layerStart, layerEndExclusive }) => [nodeId, layerStart, layerEndExclusive]);

const pool = [node(2n, 8 * GIB), node(3n, 8 * GIB), node(4n, 2 * GIB)];

describe('an automatic placement', () => {
  it('takes one node where one suffices, and says what else it looked at', () => {
    const { report, settings, ...rest } = planned(pool);
    expect(rangesOf({ report, settings, ...rest })).toEqual([[2n, 0, 16]]);
    expect(report.selected!.strategy).toBe('single-node');
    expect(report.selected!.selectedBecause).toContainEqual(
      expect.stringContaining('the best of 2 placements that fit'),
    );
    const names = report.candidates.map(({ strategy }) => strategy);
    expect(new Set(names)).toEqual(
      new Set(['single-node', 'balance-by-vram', 'min-max-stage-time', 'min-latency', 'even-split']),
    );
    for (const { status, reasons } of report.candidates) {
      if (status !== CandidateStatus.CANDIDATE_STATUS_SELECTED) expect(reasons).not.toEqual([]);
    }
    expect(report.exclusions.map(({ nodeId, reason }) => [nodeId, reason])).toEqual([
      [3n, 'not-chosen'],
      [4n, 'not-chosen'],
    ]);
    expect(PlanReport.decode(PlanReport.encode(report).finish())).toEqual(report);
  });

  it('reserves on each node what the report says that its stage needs', () => {
    const { report, settings } = planned(pool, { constraints: { minStages: 2 } });
    const selected = report.candidates.find(({ status }) => status === CandidateStatus.CANDIDATE_STATUS_SELECTED)!;
    expect(settings.map(({ reservedBytes }) => Number(reservedBytes))).toEqual(
      selected.memory.map(({ total }) => Math.ceil(total!.value)),
    );
    for (const part of selected.memory) {
      const { weights, kvCache, state, compute, embedding, head, rings, overhead, total } = part;
      const sum = [weights, kvCache, state, compute, embedding, head, rings, overhead].reduce(
        (s, e) => s + e!.value,
        0,
      );
      expect(sum).toBeCloseTo(total!.value);
    }
  });

  it('keeps to stage_count, caps, exclusions and pins', () => {
    expect(planned(pool, { request: { stageCount: 3 } }).plan.stages).toHaveLength(3);
    const constraints = { layerCaps: [{ nodeId: 2n, maxLayers: 3 }], excludedNodeIds: [4n], minStages: 2 };
    const capped = planned(pool, { constraints });
    const layers = new Map(capped.plan.stages.map((it) => [it.nodeId, it.layerEndExclusive - it.layerStart]));
    expect([...layers.keys()].sort()).toEqual([2n, 3n]);
    expect(layers.get(2n)).toBeLessThanOrEqual(3);
    expect(capped.report.exclusions).toMatchObject([{ nodeId: 4n, reason: 'excluded' }]);
    const pinned = planned(pool, { constraints: { pins: [{ stageIndex: 0, nodeId: 4n }], minStages: 2 } });
    expect(pinned.plan.stages[0]!.nodeId).toBe(4n);
  });

  it('leaves out who does not say how much memory it has', () => {
    const { report } = planned([node(2n, 0), ...pool.slice(1)]);
    expect(report.exclusions[0]).toMatchObject({ nodeId: 2n, reason: 'unknown-memory' });
    const nobody = rejected([node(2n, 0)]);
    expect(nobody.rejection).toMatchObject({ kind: Kind.PLAN_REJECTION_KIND_INFEASIBLE_CONSTRAINTS });
    expect(nobody.report.exclusions[0]).toMatchObject({ reason: 'unknown-memory' });
  });

  it('counts what other runs were promised', () => {
    const busy = [node(2n, 8 * GIB, { devices: [deviceOf(8 * GIB, 6 * GIB)] }), node(3n, 8 * GIB)];
    expect(rangesOf(planned(busy))).toEqual([[3n, 0, 16]]);
  });

  it('of an exact run stays with one engine build', () => {
    const other = { engines: [{ name: 'fixture', build: '2', deviceIds: ['cpu'], features: [] }] };
    const mixed = [node(2n, 2 * GIB), node(3n, 2 * GIB), node(4n, 8 * GIB, other)];
    const exact = { request: { settings: StageSettings.fromPartial({ fidelity: Fidelity.FIDELITY_EXACT }) } };
    const { report, ...rest } = planned(mixed, exact);
    expect(rangesOf({ report, ...rest })).toEqual([[4n, 0, 16]]);
    expect(report.exclusions.map(({ reason }) => reason)).toEqual(['other-build', 'other-build']);
  });

  it('quantises keys and values only when nothing else fits and that is allowed', () => {
    const small = [node(2n, 4.6 * GIB)];
    const request = { settings: StageSettings.fromPartial({ contextLength: 32_768 }) };
    expect(rejected(small, { request }).rejection.kind).not.toBe(Kind.PLAN_REJECTION_KIND_MALFORMED_INPUT);
    const { settings, report } = planned(small, { request, constraints: { allowKvQuantisation: true } });
    expect(settings[0]!.kvCacheType).not.toBe(KvCacheType.KV_CACHE_TYPE_F16);
    expect(report.selected!.selectedBecause.at(-1)).toContain('quantised');
  });

  it('of a model whose memory nobody knows is refused', () => {
    const { rejection } = rejected(pool, {}, { inspection: { ...inspection, attention: [] } });
    expect(rejection.kind).toBe(Kind.PLAN_REJECTION_KIND_UNSUPPORTED_MODEL);
    expect(rejection.message).toContain('place its stages yourself');
  });
});

describe('links', () => {
  const laptop = (labels: Record<string, string>) => node(3n, 8 * GIB, { labels });
  const bothNodes = { constraints: { minStages: 2 } };
  const secondsWith = (labels: Record<string, string>) => {
    const { report } = planned([node(2n, 8 * GIB), laptop(labels)], bothNodes);
    return report.candidates.find(({ status }) => status === CandidateStatus.CANDIDATE_STATUS_SELECTED)!
      .secondsPerToken!.value;
  };

  it('take as long as they are declared to, and as a wired one does when what is declared is no number', () => {
    expect(secondsWith({ 'link-latency-ms': '13' }) - secondsWith({})).toBeCloseTo(0.0125, 9);
    expect(secondsWith({ 'link-latency-ms': 'slow' })).toBe(secondsWith({}));
  });

  it('that a prompt would wait for are warned of', () => {
    const warningsWith = (mbit: string) =>
      planned([node(2n, 8 * GIB), laptop({ 'link-mbit': mbit })], bothNodes).report.warnings;
    // 128 rows of 64 elements of 4 bytes are 262 144 bits.
    expect(warningsWith('0.26')).toEqual([
      expect.stringMatching(/^node "node-3" declares a link of 0.26 Mbit\/s: 128 tokens/),
    ]);
    expect(warningsWith('0.27')).toEqual([]);
  });
});

describe('a refusal', () => {
  const tight = [node(2n, 1.6 * GIB), node(3n, 1.4 * GIB)];

  it('says who is short of what, and what would have made a plan', () => {
    const { rejection, report } = rejected(tight);
    expect(rejection.kind).toBe(Kind.PLAN_REJECTION_KIND_INSUFFICIENT_MEMORY);
    expect(rejection.violations[0]!.message).toMatch(/needs .* on node "node-.", which can give/);
    const hint = report.noValidPlanHint!;
    expect(hint.text).toContain(`${hint.deficitBytes} bytes`);
  });

  it('says how large one more node would have to be, when no shorter context helps', () => {
    const settings = StageSettings.fromPartial({ contextLength: 512 });
    const { report } = rejected([node(2n, 1.2 * GIB)], { request: { settings } });
    expect(report.noValidPlanHint!.relaxation).toMatch(/^add a node that can give .* after its headroom$/);
  });

  it.each([
    ['an excluded node', { excludedNodeIds: [2n], pins: [{ stageIndex: 0, nodeId: 2n }] }],
    ['a node that nobody knows', { pins: [{ stageIndex: 0, nodeId: 99n }] }],
    ['one node twice', { pins: [0, 1].map((stageIndex) => ({ stageIndex, nodeId: 2n })) }],
  ])('of a pin to %s gives no hint, since neither memory nor one more node lifts it', (_, constraints) => {
    const { rejection, report } = rejected(pool, { constraints });
    expect(rejection.kind).toBe(Kind.PLAN_REJECTION_KIND_INFEASIBLE_CONSTRAINTS);
    expect(report.noValidPlanHint).toBeUndefined();
  });

  it('is lifted by exactly the bytes of its hint, and not by one less', () => {
    const { report } = rejected(tight);
    const { nodeId: short, deficitBytes } = report.noValidPlanHint!;
    const granted = (bytes: bigint) =>
      planRequest(
        planning(
          tight.map((it) => {
            if (it.nodeId !== short) return it;
            // What is promised and not there yet takes as much from a budget as it gives back here.
            const [device] = it.devices;
            const stages = [{ reservedBytes: -bytes, residentBytes: -bytes }];
            return { ...it, devices: [{ ...device!, freeBytes: device!.freeBytes! + bytes, stages }] };
          }),
        ),
      ).kind;
    expect([granted(deficitBytes), granted(deficitBytes - 1n)]).toEqual(['planned', 'rejected']);
  });
});

describe('a given placement', () => {
  const layerRanges = (id: bigint): Partial<PlanRequest> => ({
    placement: {
      $case: 'layerRanges',
      value: { stages: [{ stageIndex: 0, nodeId: id, layerStart: 0, layerEndExclusive: 16 }] },
    },
  });

  it('is refused where it does not fit, headroom or not', () => {
    expect(rejected([node(2n, 2 * GIB)], { request: layerRanges(2n) }).rejection).toMatchObject({
      kind: Kind.PLAN_REJECTION_KIND_INSUFFICIENT_MEMORY,
      message: expect.stringContaining('node "node-2" would hold'),
    });
  });

  it('warns where it leaves hardly any room, and where nobody knows', () => {
    const nearly = planned([node(2n, 3.4 * GIB)], { request: layerRanges(2n) });
    expect(nearly.report.warnings).toEqual([expect.stringContaining('of what it can give with headroom')]);
    const unknown = planned([node(2n, 0)], { request: layerRanges(2n) });
    expect(unknown.report.warnings).toEqual([expect.stringContaining('does not say how much memory it has')]);
  });

  it('has its memory and speed in the report', () => {
    const { report } = planned(pool, { request: layerRanges(2n) });
    expect(report.candidates).toMatchObject([
      { strategy: 'given', memory: [{ nodeId: 2n }], tokensPerSecond: { unit: 'tokens/s' } },
    ]);
  });
});

describe('what a dry run has chosen', () => {
  const dryRun = planned(pool, { constraints: { minStages: 2 } });
  const expected = dryRun.report.selected!;

  it('is planned again though another placement is better now, if it still fits', () => {
    const more = [...pool, node(5n, 64 * GIB), node(6n, 64 * GIB)];
    const again = planned(more, { constraints: { minStages: 2 } }, { expected });
    expect(again.planId).toBe(dryRun.planId);
    expect(rangesOf(again)).toEqual(rangesOf(dryRun));
  });

  it('is refused when it does not fit any more', () => {
    const full = pool.map((it) => ({ ...it, devices: [deviceOf(8 * GIB, 7.5 * GIB)] }));
    const { rejection } = rejected(full, { constraints: { minStages: 2 } }, { expected });
    expect(rejection.kind).toBe(Kind.PLAN_REJECTION_KIND_INSUFFICIENT_MEMORY);
  });
});

describe('the ledger', () => {
  it('is believed over the estimates, and named', () => {
    const deviceBytes = 4 * GIB;
    const { settings, report } = planned(pool, {}, { ledger: () => () => ({ deviceBytes }) });
    expect(settings[0]!.reservedBytes).toBe(BigInt(deviceBytes));
    const selected = report.candidates.find(({ status }) => status === CandidateStatus.CANDIDATE_STATUS_SELECTED)!;
    expect(selected.memory[0]!.total).toMatchObject({ value: deviceBytes, basis: EstimateBasis.ESTIMATE_BASIS_LEDGER });
  });
});

describe('whatever the pool', () => {
  const sizes = fc.array(fc.double({ min: 0, max: 6, noNaN: true }), { minLength: 1, maxLength: 6 });
  const objectives = fc.constantFrom(
    PlacementObjective.PLACEMENT_OBJECTIVE_FASTEST,
    PlacementObjective.PLACEMENT_OBJECTIVE_THROUGHPUT,
    PlacementObjective.PLACEMENT_OBJECTIVE_FEWEST_NODES,
    PlacementObjective.PLACEMENT_OBJECTIVE_BALANCED,
  );

  it('every layer is placed once, within what its node can give, and every node is accounted for (I15)', () => {
    fc.assert(
      fc.property(sizes, objectives, (gigabytes, objective) => {
        const nodes = gigabytes.map((size, at) => node(BigInt(at + 2), Math.floor(size * GIB)));
        const outcome = planRequest(planning(nodes, { objective }));
        const { report } = outcome;
        const used = outcome.kind === 'planned' ? outcome.plan.stages.map(({ nodeId }) => nodeId) : [];
        expect(report.exclusions.length + used.length).toBe(report.nodesConsidered);
        expect(planRequest(planning(nodes, { objective }))).toEqual(outcome);
        if (outcome.kind === 'rejected') return;
        expect(
          outcome.plan.stages.reduce((at, stage) => (stage.layerStart === at ? stage.layerEndExclusive : -1), 0),
        ).toBe(16);
        for (const [index, { nodeId }] of outcome.plan.stages.entries()) {
          const total = Number(nodes.find((it) => it.nodeId === nodeId)!.devices[0]!.totalBytes);
          const usable = total - Math.ceil(total * 0.2) - 256 * MIB;
          expect(Number(outcome.settings[index]!.reservedBytes)).toBeLessThanOrEqual(usable);
        }
      }),
      { numRuns: 60 },
    );
  });
});
