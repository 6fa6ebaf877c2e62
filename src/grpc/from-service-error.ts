import { type ServiceError, status } from '@grpc/grpc-js';
import { RpcError } from './rpc-error.js';
import { decodeStatusDetails } from './status-details.js';

/**
 * What a client's call failed with, as the server meant it. Without details, as from a connection that could not be
 * made, the reason is the name of the code, such as `UNAVAILABLE`.
 */
export function fromServiceError(error: unknown): RpcError {
  if (error instanceof RpcError) return error;
  if (!isServiceError(error))
    return new RpcError(status.UNKNOWN, 'UNKNOWN', String(error), {
      cause: error,
    });
  const details = decodeStatusDetails(error);
  const reason = details?.reason || status[error.code] || 'UNKNOWN';
  return new RpcError(error.code, reason, error.details, {
    fieldViolations: details?.fieldViolations ?? [],
    metadata: details?.metadata ?? {},
    cause: error,
  });
}

function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && 'code' in error && typeof error.code === 'number' && 'details' in error;
}
