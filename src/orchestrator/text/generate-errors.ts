import { status } from '@grpc/grpc-js';
import type { RunState } from '../../core/machine/state.js';
import { RpcError } from '../../grpc/rpc-error.js';

export function notServing({ runId }: RunState): RpcError {
  const message = `run ${runId} answers its own prompt alone: follow that with attach, or create a SERVING run`;
  return new RpcError(status.FAILED_PRECONDITION, 'RUN_NOT_SERVING', message);
}

export function notOneShot({ runId }: RunState): RpcError {
  const message = `run ${runId} is SERVING and has no answer of its own: send it a prompt`;
  return new RpcError(status.FAILED_PRECONDITION, 'RUN_NOT_ONE_SHOT', message);
}

export function notRunning({ runId, phase, outcome }: RunState): RpcError {
  const isOver = phase === 'DONE' || outcome !== undefined;
  const advice = isOver ? 'create a new one' : `wait until it is RUNNING: \`stageplane runs watch ${runId}\``;
  return new RpcError(status.FAILED_PRECONDITION, 'RUN_NOT_RUNNING', `run ${runId} is ${phase}: ${advice}`);
}

/** The orchestrator has restarted, and the token edges are being opened anew. */
export function reopening({ runId }: RunState): RpcError {
  const message = `the token endpoint of run ${runId} is being opened again: try again in a moment`;
  return new RpcError(status.UNAVAILABLE, 'TOKEN_ENDPOINT_OPENING', message);
}

/** It fits beside a node that is drained, and lets what it has begun to say end. */
export function moving({ runId }: RunState): RpcError {
  const message = `run ${runId} is about to move off a node that is drained: try again once it is RUNNING elsewhere`;
  return new RpcError(status.UNAVAILABLE, 'RUN_MOVING', message);
}

export function cutOff({ runId }: RunState, why: string): RpcError {
  return new RpcError(status.UNAVAILABLE, 'ANSWER_CUT_OFF', `the answer of run ${runId} was cut off: ${why}`);
}

/** A ONE_SHOT run that ended without an answer, and without a fault. */
export function neverAnswered({ runId }: RunState): RpcError {
  const message = `run ${runId} ended before it was answered: create a new one`;
  return new RpcError(status.FAILED_PRECONDITION, 'RUN_NOT_ANSWERED', message);
}
