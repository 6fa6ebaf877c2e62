import { exitCode } from './exit-code.js';
import type { Failure, Violation } from './failure.js';

/** Flags, arguments or variables that cannot be used: one alone is the sentence, several are listed below it. */
export function usageFailure(problems: readonly Violation[]): Failure {
  const [first] = problems;
  const message =
    problems.length === 1 && first
      ? [first.field, first.message].filter(Boolean).join(': ')
      : `${problems.length} settings cannot be used; correct all of them`;
  return {
    exitCode: exitCode.usage,
    code: 'INVALID_ARGUMENT',
    reason: 'INVALID_SETTINGS',
    message,
    violations: problems,
  };
}
