import { status } from '@grpc/grpc-js';
import type { RpcError } from '../grpc/rpc-error.js';
import { whyUnanswered } from '../grpc/why-unanswered.js';
import { exitCode } from './exit-code.js';
import type { Failure } from './failure.js';

/**
 * What a failed call means to the person who asked.
 *
 * @param otherwise what to do instead of starting an orchestrator, when none answers
 */
export function rpcFailure(error: RpcError, address: string, otherwise = 'name another with --orchestrator'): Failure {
  const unanswered = whyUnanswered(error);
  return {
    exitCode: unanswered || error.code === status.UNAVAILABLE ? exitCode.unreachable : exitCode.failure,
    code: error.codeName,
    reason: unanswered ? 'ORCHESTRATOR_UNREACHABLE' : error.reason,
    message: unanswered
      ? `no orchestrator answers at ${address} (${unanswered}); start one with \`stageplane orchestrator\`, or ${otherwise}`
      : sentence(error, address),
    violations: error.fieldViolations.map(({ field, description }) => ({ field, message: description })),
  };
}

function sentence(error: RpcError, address: string): string {
  // Of gRPC itself: what our services refuse has a reason of its own.
  if (error.code === status.UNIMPLEMENTED && error.reason === error.codeName) {
    return `the server at ${address} does not know this call: name the orchestrator's own port, not the one of tokens beside it, or install matching versions`;
  }
  return error.message || `the orchestrator answered ${error.codeName}`;
}
