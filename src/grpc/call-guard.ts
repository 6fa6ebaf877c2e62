import { constants, type Http2Session } from 'node:http2';
import { type ServerInterceptingCallInterface, type ServerInterceptor, status } from '@grpc/grpc-js';
import { limits } from '../core/limits.js';
import { TokenBucket } from '../core/token-bucket.js';
import type { CallRates } from './call-rates.js';
import type { Connections } from './connections.js';
import { GuardedCall } from './guarded-call.js';
import { RpcError } from './rpc-error.js';

const resets = { burst: limits.resetsAtOnce, perSecond: limits.resetsPerSecond };

/** @param path of a method that is served */
export type OnCallOver = (path: string, code: status) => void;

/** What stands before every call of a server, those of library services included: nothing of ours hears of it earlier. */
export function callGuard(connections: Connections, rates: CallRates, onCallOver: OnCallOver): ServerInterceptor {
  const resetsOf = new WeakMap<Http2Session, TokenBucket>();
  return ({ requestStream, path }, call) => {
    const { remoteAddress, remotePort } = call.getConnectionInfo();
    const serial = call.getAuthContext().sslPeerCertificate?.serialNumber;
    const wait = rates.take(serial ?? call.getPeer(), performance.now());
    const session = sessionOf(call);
    if (remoteAddress !== undefined && remotePort !== undefined) connections.called(remoteAddress, remotePort, session);
    const onReset = () => {
      if (!session || session.destroyed) return;
      const bucket = resetsOf.get(session) ?? new TokenBucket(resets, performance.now());
      resetsOf.set(session, bucket);
      if (bucket.take(performance.now()) === 0) return;
      // Not by destroy: without an error it says NO_ERROR, whatever code it is given.
      session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM);
      session.destroy();
    };
    const refusal = wait === 0 ? undefined : tooManyCalls(wait);
    const onOver = (code: status) => onCallOver(path, code);
    return new GuardedCall(call, { requestStream, refusal, onReset, onOver });
  };
}

/** Nothing public of grpc-js ends a connection from within a call. */
function sessionOf(call: ServerInterceptingCallInterface): Http2Session | undefined {
  return (call as unknown as { readonly stream: { readonly session?: Http2Session } }).stream.session;
}

function tooManyCalls(wait: number): RpcError {
  const millis = Math.ceil(wait);
  const message = `too many calls from one caller: slow down, and try again in ${millis} ms`;
  return new RpcError(status.RESOURCE_EXHAUSTED, 'TOO_MANY_CALLS', message, {
    metadata: { retryAfterMillis: String(millis) },
  });
}
