import type { PlanRunResponse } from '../../../gen/stageplane/v1/orchestrator_service.js';
import type { PlanningOutcome } from './plan-request.js';

/** What came of planning, as a launcher is told. */
export function planAnswer(planned: PlanningOutcome): PlanRunResponse {
  const { report } = planned;
  if (planned.kind === 'rejected') return { outcome: { $case: 'rejection', value: planned.rejection }, report };
  const value = { plan: planned.plan, settings: [...planned.settings] };
  return { outcome: { $case: 'plan', value }, report };
}
