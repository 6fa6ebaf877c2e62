import { status } from '@grpc/grpc-js';
import type { NodeId, RunId } from '../core/ids.js';
import type { Answer } from '../core/machine/effects.js';
import { RpcError } from '../grpc/rpc-error.js';

export function runNotFound(id: RunId): RpcError {
  const message = `there is no run ${id}: look at \`stageplane runs list\``;
  return new RpcError(status.NOT_FOUND, 'RUN_NOT_FOUND', message, {
    metadata: { runId: String(id) },
  });
}

export function nodeNotFound(id: NodeId): RpcError {
  const message = `there is no node ${id}: look at \`stageplane nodes list\``;
  return new RpcError(status.NOT_FOUND, 'NODE_NOT_FOUND', message, {
    metadata: { nodeId: String(id) },
  });
}

/** The gRPC error of an answer that is none of those the caller hoped for. */
export function answerError(answer: Answer): RpcError {
  switch (answer.kind) {
    case 'unknown-run':
      return runNotFound(answer.runId);
    case 'unknown-node':
      return nodeNotFound(answer.nodeId);
    case 'request-conflict': {
      const message = `request id "${answer.requestId}" was used with another plan: choose a new request id`;
      return new RpcError(status.ALREADY_EXISTS, 'REQUEST_CONFLICT', message);
    }
    case 'request-spent': {
      const message = `request id "${answer.requestId}" made run ${answer.runId}, which has been deleted: choose a new request id`;
      return new RpcError(status.ALREADY_EXISTS, 'REQUEST_SPENT', message);
    }
    case 'run-not-done':
      return new RpcError(status.FAILED_PRECONDITION, 'RUN_NOT_DONE', notDone(answer));
    case 'too-many-runs': {
      const message = `${answer.limit} runs are kept already: delete finished ones with \`stageplane runs delete\``;
      return new RpcError(status.RESOURCE_EXHAUSTED, 'TOO_MANY_RUNS', message);
    }
    case 'node-connected': {
      const message = `node "${answer.name}" is connected: drain it, stop its agent, then delete it`;
      return new RpcError(status.FAILED_PRECONDITION, 'NODE_CONNECTED', message);
    }
    case 'access-refused':
      return new RpcError(status[answer.code], answer.reason, answer.message);
    default:
      throw new Error(`${answer.kind} is no error`);
  }
}

function notDone(answer: Extract<Answer, { kind: 'run-not-done' }>): string {
  if (answer.lostNode !== undefined) {
    return `run ${answer.runId} has a stage on the lost node "${answer.lostNode}" that may still be alive: start its agent, or wait for its lease to end`;
  }
  return `run ${answer.runId} is ${answer.phase}: stop it with \`stageplane runs stop ${answer.runId}\` and wait until it is DONE`;
}

export function stageNotFound(run: { runId: RunId; stages: readonly unknown[] }, index: number): RpcError {
  const message = `run ${run.runId} has no stage ${index}, only 0 to ${run.stages.length - 1}: ask for one of those`;
  return new RpcError(status.NOT_FOUND, 'STAGE_NOT_FOUND', message);
}

export function revisionAhead(after: bigint): RpcError {
  const message = `revision ${after} is not committed yet: read again what is there and watch from its own revision`;
  return new RpcError(status.OUT_OF_RANGE, 'REVISION_AHEAD', message);
}
