import { randomUUID } from 'node:crypto';
import { type Metadata, status } from '@grpc/grpc-js';
import type { Logger } from 'pino';
import { RpcError } from './rpc-error.js';
import { encodeStatusDetails } from './status-details.js';

/** What grpc-js sends as a call's end: pass it to a unary callback, or emit it as a stream's error. */
export interface ServerStatus {
  readonly code: status;
  readonly details: string;
  readonly metadata: Metadata;
}

export function serverStatus(error: RpcError): ServerStatus {
  return {
    code: error.code,
    details: error.message,
    metadata: encodeStatusDetails(error),
  };
}

/**
 * What a client may know of something thrown. An RpcError leaves as it is; anything else is a bug, goes to the log with
 * an incident id and leaves as INTERNAL with that id alone, so that no path, address or stack leaks.
 */
export function asRpcError(thrown: unknown, logger: Logger): RpcError {
  if (thrown instanceof RpcError) return thrown;
  const incident = randomUUID().slice(0, 8);
  logger.error({ incident, err: thrown }, 'handler failed');
  return new RpcError(
    status.INTERNAL,
    'INTERNAL',
    `internal error, incident ${incident}: look for this id in the orchestrator's log`,
    { metadata: { incident } },
  );
}
