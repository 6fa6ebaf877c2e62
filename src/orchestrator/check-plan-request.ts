import type { PlacementConstraints, PlanRequest } from '../../gen/stageplane/v1/planner.js';
import { RestartMode, type RestartPolicy } from '../../gen/stageplane/v1/run.js';
import { limits } from '../core/limits.js';
import { samplingProblems, stopProblems } from '../core/sampling-problems.js';
import type { FieldViolation } from '../grpc/field-violation.js';
import { throwIfAny } from '../grpc/throw-if-any.js';

/** What a request may ask over gRPC beyond its shape; throws RpcError. */
export function checkPlanRequest(plan: PlanRequest): void {
  const violations: FieldViolation[] = [];
  const atMost = (field: string, value: number | undefined, most: number) => {
    if ((value ?? 0) > most)
      violations.push({
        field,
        description: `${value} is above the most there may be, ${most}`,
      });
  };
  atMost('plan.stage_count', plan.stageCount, limits.stagesPerRequest);
  atMost('plan.settings.micro_batch', plan.settings?.microBatch, limits.microBatchRows);
  atMost('plan.settings.threads', plan.settings?.threads, limits.threadsPerStage);
  atMost('plan.settings.sessions', plan.settings?.sessions, limits.sessionsPerStage);
  const { sampling, stop = [] } = plan.runtime ?? {};
  const problems = [...(sampling ? within('sampling', samplingProblems(sampling)) : []), ...stopProblems(stop)];
  violations.push(...within('plan.runtime', problems));
  if (plan.placement?.$case === 'automatic') {
    const { constraints } = plan.placement.value;
    checkConstraints(constraints, atMost);
    violations.push(...pinProblems(constraints?.pins ?? []));
  }
  throwIfAny(violations);
}

/** Puts a message's name before the fields inside it. */
export function within(message: string, problems: readonly FieldViolation[]): FieldViolation[] {
  return problems.map(({ field, description }) => ({ field: `${message}.${field}`, description }));
}

function checkConstraints(
  constraints: PlacementConstraints | undefined,
  atMost: (field: string, value: number | undefined, most: number) => void,
): void {
  const field = 'plan.automatic.constraints';
  atMost(`${field}.min_stages`, constraints?.minStages, limits.stagesPerRequest);
  atMost(`${field}.max_stages`, constraints?.maxStages, limits.stagesPerRequest);
  atMost(`${field}.headroom_millis`, constraints?.headroomMillis, 1000);
  atMost(`${field}.pins`, constraints?.pins.length, limits.stagesPerRequest);
}

/** A stage is on one node: of two pins one would be left out without a word. */
function pinProblems(pins: PlacementConstraints['pins']): FieldViolation[] {
  const nodes = new Map<number, bigint>();
  return pins.flatMap(({ stageIndex, nodeId }) => {
    const first = nodes.get(stageIndex);
    nodes.set(stageIndex, nodeId);
    if (first === undefined) return [];
    const description = `stage ${stageIndex} is pinned to node ${first} and to node ${nodeId}; pin each stage to one node`;
    return [{ field: 'plan.automatic.constraints.pins', description }];
  });
}

/** How often and how soon a run may begin again; throws RpcError. */
export function checkRestartPolicy(restart: RestartPolicy | undefined): void {
  if (restart?.mode !== RestartMode.RESTART_MODE_ON_FAULT) return;
  const violations: FieldViolation[] = [];
  const { maxAttempts, backoffMillis } = restart;
  if (maxAttempts < 1 || maxAttempts > limits.restartAttempts) {
    const description = `${maxAttempts} is not between 1 and ${limits.restartAttempts}, the attempts that a run may have after the first`;
    violations.push({ field: 'restart.max_attempts', description });
  }
  if (backoffMillis > limits.restartBackoffMaxMillis) {
    const description = `${backoffMillis} is above the longest wait, ${limits.restartBackoffMaxMillis} milliseconds`;
    violations.push({ field: 'restart.backoff_millis', description });
  }
  throwIfAny(violations);
}
