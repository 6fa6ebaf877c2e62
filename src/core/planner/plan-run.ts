import type { RunPlan } from '../../../gen/stageplane/v1/plan.js';
import type { PlannerInput } from '../../../gen/stageplane/v1/planner.js';
import type { PlanRejection } from '../../../gen/stageplane/v1/rejection.js';
import { buildRunPlan } from './build-run-plan.js';
import { firstRejection, rejectionOf } from './first-rejection.js';
import { plannerRules } from './planner-rules.js';
import { planningDraft } from './planning-draft.js';
import { read } from './read-message.js';
import { plannerInput } from './read-planner-input.js';

/** The one plan, or why there is none. */
export type PlanOutcome = { kind: 'planned'; plan: RunPlan } | { kind: 'rejected'; rejection: PlanRejection };

/**
 * Turns a planner input into the one complete plan of its run, or into the rejection that says why there is none.
 *
 * Pure, total and deterministic: any value at all gets an answer, nothing of it is changed, and the plan shares no memory
 * with it. Several places of the plan share what they say alike, such as the spec of all activation edges: it is a message to
 * send, and `RunPlan.fromPartial` makes a copy to change. Takes time linear in the placements; a `stage_count` of four billion alone costs nothing. The checks and their
 * order are `plannerRules`; an unset message or oneof, an unknown enum value or a number out of its field's range is
 * MALFORMED_INPUT before all of them.
 */
export function planRun(input: PlannerInput): PlanOutcome {
  const outcome = read(plannerInput, input);
  if (outcome.kind === 'malformed') return { kind: 'rejected', rejection: rejectionOf(outcome.faults)! };
  const draft = planningDraft(outcome.value);
  const rejection = firstRejection(plannerRules, draft);
  return rejection ? { kind: 'rejected', rejection } : { kind: 'planned', plan: buildRunPlan(draft) };
}
