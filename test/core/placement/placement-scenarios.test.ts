import { describe, expect, it } from 'vitest';
import { PlanRejectionKind } from '../../../gen/stageplane/v1/rejection.js';
import { nodeId } from '../../../src/core/ids.js';
import { choosePlacement } from '../../../src/core/placement/choose-placement.js';
import { nearestMiss } from '../../../src/core/placement/nearest-miss.js';
import type { Objective } from '../../../src/core/placement/objective.js';
import type { PlacementNode, PlacementProblem } from '../../../src/core/placement/placement-problem.js';
import { rejectPlacement } from '../../../src/core/placement/reject-placement.js';
import { evenModel, GB, sampleNode, sampleProblem } from './sample-problem.js';

/** 16 blocks and a tied head: 2.5 GB at 16 bits. */
const oneBillion = evenModel(16, 0.122 * GB, 0.525 * GB, 0.525 * GB);
/** 80 blocks, 5.3 bits a weight: 46 GB. */
const seventyBillion = evenModel(80, 0.56 * GB, 0.6 * GB, 0.9 * GB);

/** Nodes of these gigabytes with ids from 2 on, 20 % left free. */
function pool(...gigabytes: number[]): PlacementNode[] {
  return gigabytes.map((size, at) => sampleNode(at + 2, size * GB * 0.8, { capacity: size * GB }));
}

function placed(problem: PlacementProblem, objective: Objective = 'fastest', strategy?: string) {
  const outcome = choosePlacement(problem, objective);
  const candidate = strategy
    ? outcome.candidates.find(({ name }) => name === strategy)
    : outcome.candidates.find(({ fate }) => fate === 'selected');
  return candidate?.placement?.stages.map(({ node, layerStart, layerEndExclusive }) => {
    return [node.name, layerStart, layerEndExclusive];
  });
}

const balance = 'balance-by-vram';

describe('a model that has room', () => {
  it('is cut in the middle for two equal nodes', () => {
    const problem = sampleProblem(oneBillion, pool(24, 24), { minStages: 2 });
    expect(placed(problem, 'fastest', balance)).toEqual([
      ['node-3', 0, 8],
      ['node-2', 8, 16],
    ]);
    expect(placed(problem, 'throughput')?.length).toBe(2);
  });

  it('takes one node unless more are asked for', () => {
    const stages = (minStages: number) => {
      const problem = sampleProblem(oneBillion, pool(24, 16, 12), { minStages });
      return (['fastest', 'fewest-nodes'] as const).map((objective) => placed(problem, objective)!.length);
    };
    expect([1, 2, 3].map(stages)).toEqual([
      [1, 1],
      [2, 2],
      [3, 3],
    ]);
    const balanced = placed(sampleProblem(oneBillion, pool(24, 16, 12), { minStages: 3 }), 'fastest', balance)!;
    expect(balanced.map(([name]) => name)).toEqual(['node-3', 'node-4', 'node-2']);
    const layers = balanced.map(([, start, end]) => Number(end) - Number(start));
    expect(layers).toEqual([5, 4, 7]);
  });

  it('leaves a slow node out, most memory or not, while faster ones have room', () => {
    const slow = { secondsPerByte: 1 / (50 * GB) };
    const nodes = [sampleNode(2, 64 * GB, slow), sampleNode(3, 24 * GB), sampleNode(4, 26 * GB)];
    const stages = placed(sampleProblem(seventyBillion, nodes))!;
    const layersOf = (name: string) => {
      const stage = stages.find(([at]) => at === name);
      return stage ? Number(stage[2]) - Number(stage[1]) : 0;
    };
    expect(layersOf('node-3') + layersOf('node-4')).toBe(80);
  });
});

describe('a model that fills its pool', () => {
  it('has its head and its embedding on the two large nodes, and fewer layers on the small ones', () => {
    const problem = sampleProblem(seventyBillion, pool(24, 24, 8, 8));
    const stages = placed(problem, 'fastest', balance)!;
    expect(stages.map(([name]) => name)).toEqual(['node-3', 'node-4', 'node-5', 'node-2']);
    const layers = stages.map(([, start, end]) => Number(end) - Number(start));
    expect(Math.max(layers[1]!, layers[2]!)).toBeLessThan(Math.min(layers[0]!, layers[3]!) / 2);
  });

  it('leaves no node of a 35:1 pool short', () => {
    const problem = sampleProblem(seventyBillion, pool(70, 2), { minStages: 2 });
    for (const objective of ['fastest', 'throughput', 'balanced'] as const) {
      const outcome = choosePlacement(problem, objective);
      const all = outcome.candidates.flatMap(({ placement }) => placement?.stages ?? []);
      expect(all.length).toBeGreaterThan(0);
      for (const { bytes, node } of all) expect(bytes).toBeLessThanOrEqual(node.usable);
    }
    const even = choosePlacement(problem, 'fastest').candidates.find(({ name }) => name === 'even-split')!;
    expect(even.fate).toBe('infeasible');
    expect(even.reasons[0]).toContain('on node "node-3", which can give 1.5 GiB');
  });
});

describe('constraints', () => {
  const nodes = pool(24, 24, 24);

  it('keep a cap, a pin and a cut', () => {
    const [first, second] = nodes;
    const capped = { ...first!, maxLayers: 3 };
    const problem = sampleProblem(oneBillion, [capped, ...nodes.slice(1)], {
      starts: [4, 8, 12, 14],
      pins: new Map([[1, capped.nodeId]]),
    });
    const stages = placed(problem)!;
    expect(stages[1]).toEqual([capped.name, 14, 16]);
    expect(stages[0]![0]).toBe(second!.name);
  });

  it.each<[string, Partial<PlacementProblem>, string]>([
    ['no node', { nodes: [] }, 'no node can take a stage'],
    ['more stages than nodes', { minStages: 4, maxStages: 9 }, '4 stages need 4 nodes, 3 can take one'],
    ['fewer stages at most than at least', { minStages: 3, maxStages: 2 }, 'max_stages is 2, fewer than the 3'],
    ['more stages than cuts', { minStages: 3, starts: [8] }, 'at most 2 stages'],
    ['a pin outside the pool', { pins: new Map([[0, nodeId(99n)]]) }, 'pinned to node 99, which can take no stage'],
    [
      'one node pinned twice',
      {
        pins: new Map([
          [0, nodeId(2n)],
          [1, nodeId(2n)],
        ]),
      },
      'node "node-2" has no device left for stage 1',
    ],
    ['caps below the model', { nodes: nodes.map((node) => ({ ...node, maxLayers: 5 })) }, '15 layers together'],
    ['a time that no placement meets', { maxSecondsPerToken: 1e-6 }, 'more than the 1 us asked for'],
  ])('that ask for the impossible are refused: %s', (_name, changes, words) => {
    const problem = sampleProblem(oneBillion, nodes, changes);
    const outcome = choosePlacement(problem, 'fastest');
    if (outcome.kind === 'placed') throw new Error('placed');
    const rejection = rejectPlacement(outcome.fault);
    expect(rejection.kind).toBe(PlanRejectionKind.PLAN_REJECTION_KIND_INFEASIBLE_CONSTRAINTS);
    expect(rejection.message).toContain(words);
    expect(outcome.candidates.every(({ fate }) => fate === 'rejected-policy')).toBe(true);
    expect(nearestMiss(problem)).toBeUndefined();
  });

  it('are named when the model would fit without them', () => {
    const problem = sampleProblem(seventyBillion, pool(24, 24, 24), { maxStages: 2 });
    const outcome = choosePlacement(problem, 'fastest');
    expect(outcome.kind === 'rejected' && rejectPlacement(outcome.fault)).toMatchObject({
      kind: PlanRejectionKind.PLAN_REJECTION_KIND_INFEASIBLE_CONSTRAINTS,
      violations: [{ field: 'automatic.constraints.max_stages' }],
    });
  });
});

describe('a model without room', () => {
  it('is refused with need, budget and deficit of each node, and what would help', () => {
    const problem = sampleProblem(seventyBillion, pool(24, 20));
    const outcome = choosePlacement(problem, 'fastest');
    if (outcome.kind === 'placed') throw new Error('placed');
    const rejection = rejectPlacement(outcome.fault);
    expect(rejection.kind).toBe(PlanRejectionKind.PLAN_REJECTION_KIND_INSUFFICIENT_MEMORY);
    expect(rejection).toMatchObject({ neededBytes: 46_300_000_000n, availableBytes: 35_200_000_000n });
    expect(rejection.violations).toHaveLength(2);
    expect(rejection.violations[0]!.message).toMatch(
      /needs .* GiB on node "node-\d", which can give .* GiB: .* short$/,
    );
    expect(nearestMiss(problem)!.bytes).toBeGreaterThanOrEqual(11_100_000_000);
    expect(nearestMiss(problem)!.bytes).toBeLessThan(11_100_000_000 + 560_000_000);
  });

  it.each([
    ['head', evenModel(16, 0.1 * GB, 0.5 * GB, 9 * GB), 9 * GB],
    ['embedding', evenModel(16, 0.1 * GB, 9 * GB, 0.5 * GB), 9 * GB],
    ['head', evenModel(16, 3 * GB, 0.5 * GB, 5 * GB), 8 * GB],
    ['layer 1', { ...evenModel(4, 1 * GB, 0, 0), layers: [GB, 7 * GB, GB, GB] }, 7 * GB],
  ])('is refused by the name of its %s when no node can hold that', (component, model, needed) => {
    const outcome = choosePlacement(sampleProblem(model, pool(8, 8, 8, 8)), 'fastest');
    if (outcome.kind === 'placed') throw new Error('placed');
    const rejection = rejectPlacement(outcome.fault);
    expect(rejection.kind).toBe(PlanRejectionKind.PLAN_REJECTION_KIND_NO_NODE_FITS_COMPONENT);
    expect(rejection).toMatchObject({ component, neededBytes: BigInt(needed), availableBytes: 6_400_000_000n });
    expect(rejection.message).toContain(`the ${component} needs`);
  });

  it('says what the roomiest node lacks, also where it has promised more than it has', () => {
    const oversold = sampleNode(2, -(2 ** 20), { capacity: GB });
    const outcome = choosePlacement(sampleProblem(evenModel(2, 2 ** 20, 2 ** 20, 0), [oversold]), 'fastest');
    if (outcome.kind === 'placed') throw new Error('placed');
    expect(rejectPlacement(outcome.fault).message).toBe(
      'the embedding needs 1.0 MiB on one node; the roomiest, "node-2", can give 0 B: give it 2.0 MiB more, add a larger node, or lower the headroom',
    );
  });
});
