import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RunPlan } from '../../../gen/stageplane/v1/plan.js';
import type { PlannerInput } from '../../../gen/stageplane/v1/planner.js';
import { PlanRejectionKind as Kind } from '../../../gen/stageplane/v1/rejection.js';
import { deriveStageProvision, projectStages } from '../../../src/core/planner/derive-stage-provision.js';
import { layersOfStage } from '../../../src/core/planner/layers-of-stage.js';
import { planRun } from '../../../src/core/planner/plan-run.js';
import { validateRunPlan } from '../../../src/core/planner/validate-run-plan.js';
import { fixedLinear, plannableInput, planOf, sampleInput } from './sample-input.js';

describe('a plan', () => {
  it('partitions the layers, joins the stages and keeps its own contract', () => {
    fc.assert(
      fc.property(plannableInput, (input) => {
        const plan = planOf(input);
        expect(validateRunPlan(plan)).toEqual({ kind: 'valid' });
        expect(plan.stages.map(({ stageIndex }) => stageIndex)).toEqual([...Array(input.stageCount).keys()]);
        const layers = plan.stages.flatMap(({ layerStart, layerEndExclusive }) =>
          numbers(layerStart, layerEndExclusive),
        );
        expect(layers).toEqual([...Array(input.model!.numLayers).keys()]);
        expect(plan.stages.every(({ layerStart, layerEndExclusive }) => layerStart < layerEndExclusive)).toBe(true);
        expect(new Set(plan.edges.map(({ edgeId }) => edgeId)).size).toBe(input.stageCount + 1);
      }),
    );
  });

  it('is the same for the same input, whose objects it neither changes nor shares', () => {
    fc.assert(
      fc.property(plannableInput, (input) => {
        const frozen = deepFreeze(structuredClone(input));
        const plan = planOf(frozen);
        expect(plan).toEqual(planOf(input));
        const outside = new Set(objectsIn(frozen));
        expect(objectsIn(plan).some((object) => outside.has(object))).toBe(false);
      }),
    );
  });

  it('is projected to the same provisions one by one and all together, which share nothing with it', () => {
    fc.assert(
      fc.property(plannableInput, (input) => {
        const plan = deepFreeze(planOf(input));
        const all = projectStages(plan);
        const each = plan.stages.map(({ stageIndex }) => deriveStageProvision(plan, stageIndex));
        const provisions = each.map((outcome) => outcome.kind === 'projected' && outcome.provision);
        expect(all).toEqual({ kind: 'projected', provisions });
        // Messages without fields are all one frozen object.
        const outside = new Set(objectsIn(plan).filter((object) => Object.keys(object).length > 0));
        expect(objectsIn(all).some((object) => outside.has(object))).toBe(false);
      }),
    );
  });
});

describe('whatever it is given', () => {
  const functions = [
    (value: unknown) => planRun(value as PlannerInput),
    (value: unknown) => validateRunPlan(value as RunPlan),
    (value: unknown) => deriveStageProvision(value as RunPlan, 0),
    (value: unknown) => deriveStageProvision(planOf(sampleInput()), value as number),
    (value: unknown) => projectStages(value as RunPlan),
  ];

  it('the planner answers arbitrary values', () => {
    fc.assert(
      fc.property(fc.anything({ withBigInt: true, withNullPrototype: true, withSparseArray: true }), (value) => {
        for (const answer of functions) answer(value);
      }),
      { numRuns: 200 },
    );
  });

  it('the planner answers inputs and plans with one value replaced by anything', () => {
    const start = sampleInput();
    const plan = planOf(start);
    fc.assert(
      fc.property(fc.nat(), fc.anything({ withBigInt: true }), (choice, value) => {
        for (const whole of [start, plan]) {
          const paths = pathsIn(whole);
          const broken = replaced(whole, paths[choice % paths.length]!, value);
          for (const answer of functions) answer(broken);
          for (const { stageIndex } of plan.stages) deriveStageProvision(broken as RunPlan, stageIndex);
        }
      }),
      { numRuns: 200 },
    );
  });

  it('objects whose own code throws are MALFORMED_INPUT', () => {
    const hostile = new Proxy({}, { get: () => fail() });
    const { proxy: revoked, revoke } = Proxy.revocable([], {});
    revoke();
    const getter = Object.defineProperty({ ...sampleInput() }, 'model', { get: () => fail() });
    for (const value of [hostile, revoked, getter, { ...sampleInput(), candidatePool: revoked }]) {
      for (const answer of functions) answer(value);
      expect(rejectionKind(value as PlannerInput)).toBe(Kind.PLAN_REJECTION_KIND_MALFORMED_INPUT);
    }
    expect(projectStages({ ...planOf(sampleInput()), edges: revoked as never }).kind).toBe('rejected');
  });

  it('a list of four billion holes is refused at once', () => {
    const holes: bigint[] = [];
    holes.length = 2 ** 32 - 1;
    expect(rejectionKind(sampleInput({ candidatePool: holes }))).toBe(Kind.PLAN_REJECTION_KIND_MALFORMED_INPUT);
  });

  it('four billion stages with one placement are MISSING_STAGE at once, with 16 violations', () => {
    const { model, ...rest } = sampleInput({ stageCount: 2 ** 32 - 1, placement: fixedLinear([1, 2n]) });
    const outcome = planRun({ ...rest, model: { ...model!, numLayers: 2 ** 32 - 1 } });
    const rejection = outcome.kind === 'rejected' ? outcome.rejection : undefined;
    expect(rejection?.kind).toBe(Kind.PLAN_REJECTION_KIND_MISSING_STAGE);
    expect(rejection?.violations).toHaveLength(16);
  });

  it('extents up to 2^64-1 are planned exactly and larger ones refused', () => {
    const { model, ...rest } = sampleInput();
    // 2^64 - 1 = 3 * 5 * 17 * 257 * 641 * 65537 * 6700417
    const exact = { ...model!, maxSeqLen: 6_700_417n, hiddenDim: 641n * 65_537n, dtypeWidthBytes: 65_535n };
    expect(planOf({ ...rest, model: exact }).edges[1]?.objectSpec?.maxExtent).toBe(2n ** 64n - 1n);
    const over = { ...exact, maxSeqLen: 6_700_418n };
    expect(rejectionKind({ ...rest, model: over })).toBe(Kind.PLAN_REJECTION_KIND_INVALID_OBJECT_SPEC);
  });
});

describe('the even split', () => {
  it('is floor(L*i/n) exactly, up to 32-bit layers and stages', () => {
    const u32 = fc.integer({ min: 1, max: 2 ** 32 - 1 });
    fc.assert(
      fc.property(u32, u32, fc.nat(), (a, b, choice) => {
        const [numLayers, stageCount] = [Math.max(a, b), Math.min(a, b)];
        const i = choice % stageCount;
        const { start, endExclusive } = layersOfStage(numLayers, stageCount, i);
        const [L, n, index] = [BigInt(numLayers), BigInt(stageCount), BigInt(i)];
        expect(BigInt(start) * n <= L * index && L * index < (BigInt(start) + 1n) * n).toBe(true);
        expect(endExclusive).toBe(i === stageCount - 1 ? numLayers : layersOfStage(numLayers, stageCount, i + 1).start);
        expect(start).toBeLessThan(endExclusive);
      }),
    );
    // L*i is 2^62 - 1, which a double makes 2^62: one layer too many.
    expect(layersOfStage(2 ** 31 + 1, 2 ** 31, 2 ** 31 - 1)).toEqual({ start: 2 ** 31 - 1, endExclusive: 2 ** 31 + 1 });
  });
});

function fail(): never {
  throw new Error('the value does not like to be read');
}

function rejectionKind(input: PlannerInput): Kind | undefined {
  const outcome = planRun(input);
  return outcome.kind === 'rejected' ? outcome.rejection.kind : undefined;
}

function numbers(from: number, toExclusive: number): number[] {
  return Array.from({ length: toExclusive - from }, (_, i) => from + i);
}

function objectsIn(value: unknown): object[] {
  if (typeof value !== 'object' || value === null) return [];
  return [value, ...Object.values(value).flatMap(objectsIn)];
}

function deepFreeze<T>(value: T): T {
  for (const object of objectsIn(value)) Object.freeze(object);
  return value;
}

type Path = readonly string[];

function pathsIn(value: unknown, at: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [at];
  return [at, ...Object.entries(value).flatMap(([key, inner]) => pathsIn(inner, [...at, key]))];
}

function replaced(value: unknown, [key, ...rest]: Path, by: unknown): unknown {
  if (key === undefined) return by;
  const copy = Array.isArray(value) ? [...value] : { ...(value as object) };
  Reflect.set(copy, key, replaced(Reflect.get(copy, key), rest, by));
  return copy;
}
