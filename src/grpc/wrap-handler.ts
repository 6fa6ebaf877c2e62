import type { handleBidiStreamingCall, handleServerStreamingCall, handleUnaryCall } from '@grpc/grpc-js';
import type { Logger } from 'pino';
import { type CallContext, type OpenCall, openCall } from './open-call.js';
import type { OpenStreams } from './open-streams.js';
import { readRequests } from './request-reader.js';
import { asRpcError, serverStatus } from './server-status.js';
import { StreamWriter } from './stream-writer.js';

export type UnaryBody<Request, Response> = (request: Request, context: CallContext) => Promise<Response>;

/** The stream ends with OK when the body returns; await `stream.closed` to keep it open. */
export type ServerStreamBody<Request, Response> = (
  request: Request,
  stream: StreamWriter<Response>,
  context: CallContext,
) => Promise<void>;

/** Like a server stream; the requests end when the client has ended or is gone, which look the same. */
export type BidiBody<Request, Response> = (
  requests: AsyncIterable<Request>,
  stream: StreamWriter<Response>,
  context: CallContext,
) => Promise<void>;

export interface HandlerSurroundings {
  readonly logger: Logger;
  readonly streams: OpenStreams;
}

/**
 * Turns an async body into a grpc-js handler. Whatever the body throws ends in exactly one status; without the wrapper
 * it would end the process and leave the client hanging. Likewise the two below.
 */
export function wrapUnary<Request, Response>(
  body: UnaryBody<Request, Response>,
  { logger }: HandlerSurroundings,
): handleUnaryCall<Request, Response> {
  return async (call, callback) => {
    const open = openCall(call, logger);
    try {
      const response = await body(call.request, open.context);
      if (open.finish()) callback(null, response);
    } catch (thrown) {
      if (isOwnAbort(thrown, open)) return;
      const error = asRpcError(thrown, open.context.logger);
      if (open.finish()) callback(serverStatus(error));
    }
  };
}

export function wrapServerStream<Request, Response>(
  body: ServerStreamBody<Request, Response>,
  { logger, streams }: HandlerSurroundings,
): handleServerStreamingCall<Request, Response> {
  return async (call) => {
    const open = openCall(call, logger);
    const stream = new StreamWriter<Response>(call);
    await runStream(open, stream, streams, () => body(call.request, stream, open.context));
  };
}

export function wrapBidi<Request, Response>(
  body: BidiBody<Request, Response>,
  { logger, streams }: HandlerSurroundings,
): handleBidiStreamingCall<Request, Response> {
  return async (call) => {
    const open = openCall(call, logger);
    const stream = new StreamWriter<Response>(call);
    const requests = readRequests(call, open.context.signal);
    await runStream(open, stream, streams, () => body(requests, stream, open.context));
  };
}

async function runStream<Response>(
  open: OpenCall,
  stream: StreamWriter<Response>,
  streams: OpenStreams,
  run: () => Promise<void>,
): Promise<void> {
  streams.add(stream);
  // Dropped or stopped from outside: the body must hear of it as it hears of a client that went away.
  void stream.closed.then((end) => {
    if (end.kind === 'failed') open.abandon(end.error);
  });
  try {
    await run();
    open.finish();
    stream.end();
  } catch (thrown) {
    if (isOwnAbort(thrown, open)) return;
    stream.fail(asRpcError(thrown, open.context.logger));
  }
}

/** A body that stopped because its signal fired has nothing to report and nobody to report it to. */
function isOwnAbort(thrown: unknown, { context: { signal } }: OpenCall): boolean {
  return signal.aborted && (thrown === signal.reason || (thrown instanceof Error && thrown.name === 'AbortError'));
}
