import type { PlanRequest } from '../../gen/stageplane/v1/planner.js';
import { RestartMode, type RestartPolicy } from '../../gen/stageplane/v1/run.js';
import { limits } from '../core/limits.js';
import type { FieldViolation } from '../grpc/field-violation.js';
import { throwIfAny } from '../grpc/throw-if-any.js';
import { unimplemented } from './unimplemented.js';

/** What a request may ask over gRPC beyond its shape; throws RpcError. */
export function checkPlanRequest(plan: PlanRequest): void {
  if (plan.placement?.$case === 'automatic') {
    throw unimplemented(
      'AUTOMATIC_PLACEMENT',
      'automatic placement',
      'give fixed_linear or layer_ranges, or no placement',
    );
  }
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
  throwIfAny(violations);
}

/** The one policy of this version is never to restart; throws RpcError for any other. */
export function checkRestartPolicy(restart: RestartPolicy | undefined): void {
  if (restart?.mode === RestartMode.RESTART_MODE_ON_FAULT) {
    throw unimplemented(
      'RESTART_POLICY',
      'restarting a run after a fault',
      'leave restart out, or set RESTART_MODE_NEVER',
    );
  }
}
