import type { RunPlan } from '../../../gen/stageplane/v1/plan.js';
import type { PlanRejection } from '../../../gen/stageplane/v1/rejection.js';
import { firstRejection, rejectionOf } from './first-rejection.js';
import { planRules } from './plan-rules.js';
import { planSubject } from './plan-subject.js';
import { read } from './read-message.js';
import { runPlan } from './read-run-plan.js';

/** Whether a plan keeps the whole contract; else the first rule that it breaks. */
export type ValidationOutcome = { kind: 'valid' } | { kind: 'rejected'; rejection: PlanRejection };

/**
 * Whether a plan that somebody else made keeps the whole contract: every plan of planRun does. Rings may differ from edge
 * to edge, and explicit layer ranges are as good as even ones; what the plan says twice, it must say alike.
 *
 * Pure, total and deterministic; linear in the plan. The checks and their order are `planRules`; a message that is not
 * whole is MALFORMED_INPUT before all of them.
 */
export function validateRunPlan(plan: RunPlan): ValidationOutcome {
  const outcome = read(runPlan, plan);
  const rejection =
    outcome.kind === 'malformed' ? rejectionOf(outcome.faults) : firstRejection(planRules, planSubject(outcome.value));
  return rejection ? { kind: 'rejected', rejection } : { kind: 'valid' };
}
