import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { RunPlan } from '../../../gen/stageplane/v1/plan.js';
import { PlannerInput } from '../../../gen/stageplane/v1/planner.js';
import { ProvisionStage } from '../../../gen/stageplane/v1/provision.js';
import { planRejectionKindToJSON, projectionRejectionKindToJSON } from '../../../gen/stageplane/v1/rejection.js';
import { deriveStageProvision, projectStages } from '../../../src/core/planner/derive-stage-provision.js';
import { planRun } from '../../../src/core/planner/plan-run.js';
import { validateRunPlan } from '../../../src/core/planner/validate-run-plan.js';

interface PlanVector {
  name: string;
  input: unknown;
  plan?: unknown;
  provisions?: unknown[];
  projectionRejection?: { stageIndex: number; kind: string };
  rejection?: string;
}

interface ProjectionVector {
  name: string;
  plan: unknown;
  stageIndex: number;
  provision?: unknown;
  projectionRejection?: string;
}

const planVectors = vectors<PlanVector>('plan.jsonl');
const projectionVectors = vectors<ProjectionVector>('projection.jsonl');

describe(`the ${planVectors.length} plan vectors`, () => {
  it('are all here', () => expect(planVectors).toHaveLength(400));

  for (const [intent, group] of groups(planVectors, ({ name }) => name.split('/').slice(0, 2).join('/'))) {
    it(`${intent} (${group.length})`, () => {
      for (const vector of group) checkPlanVector(vector);
    });
  }
});

describe(`the ${projectionVectors.length} projection vectors`, () => {
  it('are all here', () => expect(projectionVectors).toHaveLength(116));

  for (const [defect, group] of groups(projectionVectors, ({ name }) => name.split('/')[1] ?? name)) {
    it(`${defect} (${group.length})`, () => {
      for (const vector of group) checkProjectionVector(vector);
    });
  }
});

function checkPlanVector(vector: PlanVector): void {
  const outcome = planRun(PlannerInput.fromJSON(vector.input));
  if (outcome.kind === 'rejected') {
    expect(planRejectionKindToJSON(outcome.rejection.kind), vector.name).toBe(vector.rejection);
    return;
  }
  const { plan } = outcome;
  expect(RunPlan.toJSON(plan), vector.name).toEqual(RunPlan.toJSON(RunPlan.fromJSON(vector.plan)));
  expect(validateRunPlan(plan), vector.name).toEqual({ kind: 'valid' });

  const expected = vector.provisions!.map((provision) => ProvisionStage.toJSON(ProvisionStage.fromJSON(provision)));
  expect(
    plan.stages.map(({ stageIndex }) => projected(plan, stageIndex)),
    vector.name,
  ).toEqual(expected);
  const all = projectStages(plan);
  expect(all.kind === 'projected' && all.provisions.map(ProvisionStage.toJSON), vector.name).toEqual(expected);
  const refused = vector.projectionRejection!;
  expect(projected(plan, refused.stageIndex), vector.name).toBe(refused.kind);
}

function checkProjectionVector(vector: ProjectionVector): void {
  const plan = RunPlan.fromJSON(vector.plan);
  const expected = vector.provision
    ? ProvisionStage.toJSON(ProvisionStage.fromJSON(vector.provision))
    : vector.projectionRejection;
  expect(projected(plan, vector.stageIndex), vector.name).toEqual(expected);
  expect(projectStages(plan), vector.name).toEqual(projectedOneByOne(plan));
}

/** What projectStages must answer, first match by first match, on a broken plan too. */
function projectedOneByOne(plan: RunPlan): ReturnType<typeof projectStages> {
  const provisions: ProvisionStage[] = [];
  for (const { stageIndex } of plan.stages) {
    const outcome = deriveStageProvision(plan, stageIndex);
    if (outcome.kind === 'rejected') return outcome;
    provisions.push(outcome.provision);
  }
  return { kind: 'projected', provisions };
}

/** A provision as JSON, or the name of the kind of its rejection. */
function projected(plan: RunPlan, stageIndex: number): unknown {
  const outcome = deriveStageProvision(plan, stageIndex);
  return outcome.kind === 'projected'
    ? ProvisionStage.toJSON(outcome.provision)
    : projectionRejectionKindToJSON(outcome.rejection.kind);
}

function groups<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const byKey = new Map<string, T[]>();
  for (const item of items) byKey.set(keyOf(item), [...(byKey.get(keyOf(item)) ?? []), item]);
  return byKey;
}

function vectors<T>(file: string): T[] {
  const text = readFileSync(new URL(`../../conformance/${file}`, import.meta.url), 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);
}
