import type { MethodDefinition, ServiceDefinition } from '@grpc/grpc-js';
import type { KeyHolder } from '../core/key-holder.js';
import { requestValidator, type ServiceBodies } from './add-service.js';
import { LocalStream } from './local-stream.js';
import type { CallContext } from './open-call.js';
import { asRpcError } from './server-status.js';
import type { StreamWriter } from './stream-writer.js';
import { throwIfAny } from './throw-if-any.js';
import type { HandlerSurroundings, ServerStreamBody, UnaryBody } from './wrap-handler.js';

// biome-ignore lint/suspicious/noExplicitAny: bodies of different methods meet here; each was checked by ServiceBodies.
type Any = any;

/** Who makes a call that no gRPC connection brought. */
export interface LocalCaller {
  /** `host:port` of whoever is behind it. */
  readonly peer: string;
  readonly key?: KeyHolder | undefined;
  /** Fires when nobody waits any more. */
  readonly signal: AbortSignal;
}

type LocalCall<Body> =
  Body extends ServerStreamBody<infer Request, infer Response>
    ? (request: Request, caller: LocalCaller) => AsyncGenerator<Response, void>
    : Body extends UnaryBody<infer Request, infer Response>
      ? (request: Request, caller: LocalCaller) => Promise<Response>
      : never;

/** Every method of a service without streamed requests, as a function. */
export type LocalCalls<Service> = {
  readonly [Name in keyof Service]: LocalCall<ServiceBodies<Service>[Name]>;
};

/** Throws RpcError when a caller may not call the method of a path. */
export type Admit = (path: string, caller: LocalCaller) => void;

/**
 * The same bodies for doors of this process other than gRPC: checked, admitted and ended like calls over the wire. A call
 * rejects with RpcError alone; leaving the loop over a stream, or the signal, cancels it.
 */
export function localCalls<Service extends ServiceDefinition>(
  service: Service,
  bodies: ServiceBodies<Service>,
  admit: Admit,
  surroundings: HandlerSurroundings,
): LocalCalls<Service> {
  const calls = Object.entries<MethodDefinition<Any, Any>>(service).map(([name, { path, responseStream }]) => {
    const validate = requestValidator(path);
    const body = bodies[name] as Any;
    const checked = (request: Any, caller: LocalCaller) => {
      admit(path, caller);
      throwIfAny(validate(request));
      return contextOf(path, caller, surroundings);
    };
    const unary = async (request: Any, caller: LocalCaller) => {
      const context = checked(request, caller);
      return (body as UnaryBody<Any, Any>)(request, context).catch((thrown) => {
        throw asRpcError(thrown, context.logger);
      });
    };
    const stream = (request: Any, caller: LocalCaller) =>
      openStream(
        (context, writer) => body(request, writer, context),
        () => checked(request, caller),
        surroundings,
      );
    return [name, responseStream ? stream : unary];
  });
  return Object.fromEntries(calls);
}

function contextOf(method: string, { peer, key, signal }: LocalCaller, { logger }: HandlerSurroundings): CallContext {
  const fields = { method, peer };
  return { ...fields, certificate: undefined, key, deadline: undefined, signal, logger: logger.child(fields) };
}

async function* openStream<Response>(
  body: (context: CallContext, writer: StreamWriter<Response>) => Promise<void>,
  open: () => CallContext,
  { streams }: HandlerSurroundings,
): AsyncGenerator<Response, void> {
  const context = open();
  const stream = new LocalStream<Response>(context.signal);
  const { writer } = stream;
  streams.add(writer);
  // The body is told in the same words as over gRPC: by its writer, and by its signal.
  const left = new AbortController();
  void writer.closed.then((end) => end.kind !== 'ended' && left.abort());
  const over = body({ ...context, signal: left.signal }, writer).then(
    () => writer.end(),
    (thrown) => writer.fail(asRpcError(thrown, context.logger)),
  );
  try {
    yield* stream.read();
  } finally {
    await over;
  }
}
