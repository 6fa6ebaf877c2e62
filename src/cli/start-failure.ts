import { exitCode } from './exit-code.js';
import type { Failure } from './failure.js';

/** Why a daemon could not start. Whatever it rejects with has a sentence for a person; a reason is a bonus. */
export function startFailure(error: unknown): Failure {
  const { message } = error instanceof Error ? error : new Error(String(error));
  const reason = error instanceof Error && 'reason' in error ? String(error.reason) : 'START_FAILED';
  return { exitCode: exitCode.failure, code: 'FAILED_PRECONDITION', reason, message, violations: [] };
}
