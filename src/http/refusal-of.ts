import { status } from '@grpc/grpc-js';
import type { FastifyError } from 'fastify';
import type { Logger } from 'pino';
import { RpcError } from '../grpc/rpc-error.js';
import { asRpcError } from '../grpc/server-status.js';
import { HttpError, type HttpRefusal, refusal } from './http-refusal.js';
import { unreadRequest } from './unread-request.js';

/** The mapping of google.rpc.Code in google/rpc/code.proto. */
const statusCodes: Partial<Record<status, number>> = {
  [status.CANCELLED]: 499,
  [status.INVALID_ARGUMENT]: 400,
  [status.DEADLINE_EXCEEDED]: 504,
  [status.NOT_FOUND]: 404,
  [status.ALREADY_EXISTS]: 409,
  [status.PERMISSION_DENIED]: 403,
  [status.RESOURCE_EXHAUSTED]: 429,
  [status.FAILED_PRECONDITION]: 400,
  [status.ABORTED]: 409,
  [status.OUT_OF_RANGE]: 400,
  [status.UNIMPLEMENTED]: 501,
  [status.UNAVAILABLE]: 503,
  [status.UNAUTHENTICATED]: 401,
};

/** What a client over HTTP may know of something thrown: the same as over gRPC. */
export function refusalOf(thrown: unknown, logger: Logger): HttpRefusal {
  if (thrown instanceof HttpError) return thrown.refusal;
  if (isOfFastify(thrown)) return unreadRequest(thrown);
  const { code, reason, message, fieldViolations, metadata } = asRpcError(thrown, logger);
  return refusal(statusCodes[code] ?? 500, reason, message, { fieldViolations, metadata });
}

/** A body that is too large, of another type, and the like. */
function isOfFastify(thrown: unknown): thrown is FastifyError & { readonly statusCode: number } {
  if (thrown instanceof RpcError || !(thrown instanceof Error)) return false;
  const { statusCode, code } = thrown as FastifyError;
  return statusCode !== undefined && statusCode < 500 && typeof code === 'string' && code.startsWith('FST_ERR_');
}
