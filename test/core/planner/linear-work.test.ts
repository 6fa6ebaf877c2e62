import { expect, it } from 'vitest';
import type { RunPlan } from '../../../gen/stageplane/v1/plan.js';
import { projectStages, stageProjector } from '../../../src/core/planner/derive-stage-provision.js';
import { planRun } from '../../../src/core/planner/plan-run.js';
import { validateRunPlan } from '../../../src/core/planner/validate-run-plan.js';
import { readsOf } from '../reads-of.js';
import { planToChange, wideInput } from './sample-input.js';

/** Stage by stage, as a machine tells them to its nodes. */
function projectEach(plan: RunPlan): { kind: string } {
  const project = stageProjector(plan);
  const outcomes = plan.stages.map((_, index) => project(index));
  return outcomes.find(({ kind }) => kind === 'rejected') ?? { kind: 'projected' };
}

it.each([
  ['planRun', wideInput, planRun],
  ['projectStages', (n: number) => planToChange(wideInput(n)), projectStages],
  ['stageProjector', (n: number) => planToChange(wideInput(n)), projectEach],
  ['validateRunPlan', (n: number) => planToChange(wideInput(n)), validateRunPlan],
] as [string, (stageCount: number) => object, (value: object) => { kind: string }][])(
  '%s reads four times as much of four times as many stages',
  (_name, make, work) => {
    const whole = (value: object) => expect(work(value).kind).not.toBe('rejected');
    const [small, large] = [readsOf(make(1024), whole), readsOf(make(4096), whole)];
    expect(large / small).toBeGreaterThan(3.5);
    expect(large / small).toBeLessThan(4.1);
  },
);
