import { exitCode } from './exit-code.js';
import type { Failure } from './failure.js';

/** A command about one node that there is not. */
export function unknownNodeFailure(message: string): Failure {
  return { exitCode: exitCode.failure, code: 'NOT_FOUND', reason: 'NODE_NOT_FOUND', message, violations: [] };
}
