import { exitCode } from './exit-code.js';
import type { Failure } from './failure.js';

/** A defect of ours: one sentence, and the stack for those who ask for it. */
export function unexpectedFailure(error: unknown): Failure {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  const debug = Boolean(process.env.STAGEPLANE_DEBUG);
  const hint = debug ? '' : '; this is a defect, run again with STAGEPLANE_DEBUG=1 and report what it shows';
  return {
    exitCode: exitCode.failure,
    code: 'INTERNAL',
    reason: 'UNEXPECTED',
    message: `unexpected error: ${message}${hint}`,
    violations: [],
    details: debug ? (stack ?? '').split('\n') : [],
  };
}
