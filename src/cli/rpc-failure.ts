import { status } from '@grpc/grpc-js';
import type { RpcError } from '../grpc/rpc-error.js';
import { exitCode } from './exit-code.js';
import type { Failure } from './failure.js';

/**
 * What a failed call means to the person who asked.
 *
 * @param otherwise what to do instead of starting an orchestrator, when none answers
 */
export function rpcFailure(error: RpcError, address: string, otherwise = 'name another with --orchestrator'): Failure {
  const unanswered = isUnreachable(error);
  return {
    exitCode: unanswered || error.code === status.UNAVAILABLE ? exitCode.unreachable : exitCode.failure,
    code: error.codeName,
    reason: unanswered ? 'ORCHESTRATOR_UNREACHABLE' : error.reason,
    message: unanswered
      ? unreachable(error, address, otherwise)
      : error.message || `the orchestrator answered ${error.codeName}`,
    violations: error.fieldViolations.map(({ field, description }) => ({ field, message: description })),
  };
}

/** True when the call itself failed and no server answered: a server of ours always gives a reason of its own. */
function isUnreachable({ code, codeName, reason }: RpcError): boolean {
  return reason === codeName && (code === status.UNAVAILABLE || code === status.DEADLINE_EXCEEDED);
}

function unreachable(error: RpcError, address: string, otherwise: string): string {
  const why = /\b(E[A-Z]{3,}|Name resolution failed)\b/.exec(error.message)?.[0] ?? error.codeName;
  return `no orchestrator answers at ${address} (${why}); start one with \`stageplane orchestrator\`, or ${otherwise}`;
}
