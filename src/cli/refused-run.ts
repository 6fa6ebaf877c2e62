import { CreateRunResponse } from '../../gen/stageplane/v1/orchestrator_service.js';
import { type ExitCode, exitCode } from './exit-code.js';
import type { Output } from './output.js';
import { rejectionFailure } from './rejection-failure.js';

/** A run that was not made: rejected, or its dry run no longer holds. With --json the answer itself says so. */
export function refusedRun(output: Output, answer: CreateRunResponse): ExitCode {
  const { outcome, report } = answer;
  if (output.json) output.document(CreateRunResponse.toJSON(answer));
  if (output.json || outcome?.$case === 'run' || !outcome) return exitCode.rejected;
  if (outcome.$case === 'rejection') return output.fail(rejectionFailure(outcome.value, report));
  const { message, rejection } = outcome.value;
  return output.fail({
    exitCode: exitCode.rejected,
    code: 'FAILED_PRECONDITION',
    reason: 'STALE_PLAN',
    message,
    violations: rejection?.violations ?? [],
  });
}
