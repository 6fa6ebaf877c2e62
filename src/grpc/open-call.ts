import type { PeerCertificate } from 'node:tls';
import { type Deadline, status } from '@grpc/grpc-js';
import type { Logger } from 'pino';
import type { KeyHolder } from '../core/key-holder.js';
import { RpcError } from './rpc-error.js';

/** What a handler may know of its call. */
export interface CallContext {
  /** Path of the method, such as `/stageplane.v1.OrchestratorService/GetRun`. */
  readonly method: string;
  /** Address of the client as the socket has it; `unknown` on a Unix socket. */
  readonly peer: string;
  /** What the client has shown over mutual TLS. */
  readonly certificate: PeerCertificate | undefined;
  /** What the client has shown over HTTP. */
  readonly key?: KeyHolder | undefined;
  /** When the client gives up; undefined when it waits for ever. */
  readonly deadline: Date | undefined;
  /** Fires when the call is over before its handler is: the client went away, gave up, was dropped, or we stop. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
}

/** What calls of all kinds have in common. */
export interface AnyServerCall {
  on(event: 'error', listener: (error: Error) => void): unknown;
  once(event: 'cancelled', listener: () => void): unknown;
  getPeer(): string;
  getAuthContext(): { readonly sslPeerCertificate?: PeerCertificate };
  getPath(): string;
  getDeadline(): Deadline;
}

/** A call from its first moment to its end. */
export interface OpenCall {
  readonly context: CallContext;
  /** True for the first caller only: it alone may answer. */
  finish(): boolean;
  /** Tells the handler that nobody waits any more. */
  abandon(reason: RpcError): void;
}

/** Begins the bookkeeping of a call; must be the first thing a handler does. */
export function openCall(call: AnyServerCall, logger: Logger): OpenCall {
  // First of all: an error event without a listener ends the process.
  call.on('error', (error) => logger.debug({ err: error }, 'call ended with an error'));
  const abort = new AbortController();
  let over = false;
  const finish = () => {
    const first = !over;
    over = true;
    return first;
  };
  const abandon = (reason: RpcError) => {
    if (finish()) abort.abort(reason);
  };
  // grpc-js says `cancelled` after every call, finished ones too, so our own flag decides.
  call.once('cancelled', () => abandon(new RpcError(status.CANCELLED, 'CLIENT_GONE', 'the client has gone')));
  // Peer and certificate are empty once the connection has closed, so they are read now.
  const peer = call.getPeer();
  const certificate = call.getAuthContext().sslPeerCertificate;
  const method = call.getPath();
  const deadline = call.getDeadline();
  const context: CallContext = {
    method,
    peer,
    certificate,
    deadline: deadline === Number.POSITIVE_INFINITY ? undefined : new Date(deadline),
    signal: abort.signal,
    // Made when there is something to say: a child keeps the level that it was born with, and a session lives for months.
    get logger() {
      return logger.child({ method, peer });
    },
  };
  return { context, finish, abandon };
}
