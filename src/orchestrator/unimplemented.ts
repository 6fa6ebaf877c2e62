import { status } from '@grpc/grpc-js';
import { RpcError } from '../grpc/rpc-error.js';

/** An error for what the ABI has and this version does not; `instead` says what to do until then. */
export function unimplemented(reason: string, what: string, instead: string): RpcError {
  return new RpcError(status.UNIMPLEMENTED, reason, `${what} is not in this version: ${instead}`);
}
