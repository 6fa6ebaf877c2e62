import { type ServerInterceptor, status } from '@grpc/grpc-js';
import type { CallRates } from './call-rates.js';
import type { Connections } from './connections.js';
import { GuardedCall } from './guarded-call.js';
import { RpcError } from './rpc-error.js';

/** What stands before every call of a server, those of library services included: nothing of ours hears of it earlier. */
export function callGuard(connections: Connections, rates: CallRates): ServerInterceptor {
  return ({ requestStream }, call) => {
    const { remoteAddress, remotePort } = call.getConnectionInfo();
    if (remoteAddress !== undefined && remotePort !== undefined) connections.called(remoteAddress, remotePort);
    const serial = call.getAuthContext().sslPeerCertificate?.serialNumber;
    const wait = rates.take(serial ?? call.getPeer(), performance.now());
    return new GuardedCall(call, requestStream, wait === 0 ? undefined : tooManyCalls(wait));
  };
}

function tooManyCalls(wait: number): RpcError {
  const millis = Math.ceil(wait);
  const message = `too many calls from one caller: slow down, and try again in ${millis} ms`;
  return new RpcError(status.RESOURCE_EXHAUSTED, 'TOO_MANY_CALLS', message, {
    metadata: { retryAfterMillis: String(millis) },
  });
}
