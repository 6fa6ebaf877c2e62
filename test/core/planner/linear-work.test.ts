import { expect, it } from 'vitest';
import { projectStages } from '../../../src/core/planner/derive-stage-provision.js';
import { planRun } from '../../../src/core/planner/plan-run.js';
import { validateRunPlan } from '../../../src/core/planner/validate-run-plan.js';
import { planToChange, wideInput } from './sample-input.js';

/** Property reads that `work` makes anywhere inside `value`. Reads, unlike milliseconds, are the same on every machine. */
function readsOf<T extends object>(value: T, work: (value: T) => { kind: string }): number {
  let reads = 0;
  const watched = (target: object): object =>
    new Proxy(target, {
      get: (object, key, receiver) => {
        reads++;
        const inner: unknown = Reflect.get(object, key, receiver);
        return typeof inner === 'object' && inner !== null ? watched(inner) : inner;
      },
    });
  expect(work(watched(value) as T).kind).not.toBe('rejected');
  return reads;
}

it.each([
  ['planRun', wideInput, planRun],
  ['projectStages', (n: number) => planToChange(wideInput(n)), projectStages],
  ['validateRunPlan', (n: number) => planToChange(wideInput(n)), validateRunPlan],
] as [string, (stageCount: number) => object, (value: object) => { kind: string }][])(
  '%s reads four times as much of four times as many stages',
  (_name, make, work) => {
    const [small, large] = [readsOf(make(1024), work), readsOf(make(4096), work)];
    expect(large / small).toBeGreaterThan(3.5);
    expect(large / small).toBeLessThan(4.1);
  },
);
