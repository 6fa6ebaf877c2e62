import {
  type handleBidiStreamingCall,
  type handleServerStreamingCall,
  type handleUnaryCall,
  type MethodDefinition,
  type Server,
  type ServiceDefinition,
  status,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import type { Logger } from 'pino';
import { describedMethod } from './descriptor-set.js';
import type { FieldViolation } from './field-violation.js';
import { createMessageValidator } from './message-validator.js';
import { RpcError } from './rpc-error.js';
import { throwIfAny } from './throw-if-any.js';
import {
  type BidiBody,
  type HandlerSurroundings,
  type ServerStreamBody,
  type UnaryBody,
  wrapBidi,
  wrapServerStream,
  wrapUnary,
} from './wrap-handler.js';

// biome-ignore lint/suspicious/noExplicitAny: bodies of different methods meet here; each was checked by ServiceBodies.
type Any = any;

interface TypedMethod<Request, Response> {
  readonly requestStream: boolean;
  readonly responseStream: boolean;
  readonly requestDeserialize: (bytes: Buffer) => Request;
  readonly responseDeserialize: (bytes: Buffer) => Response;
}

type BodyOf<Method> =
  Method extends TypedMethod<infer Request, infer Response>
    ? Method extends { readonly requestStream: true }
      ? BidiBody<Request, Response>
      : Method extends { readonly responseStream: true }
        ? ServerStreamBody<Request, Response>
        : UnaryBody<Request, Response>
    : never;

/** One async body per method of a ts-proto service definition. */
export type ServiceBodies<Service> = {
  readonly [Name in keyof Service]: BodyOf<Service[Name]>;
};

/**
 * Adds a service to a server: every body is wrapped, and the one request of a unary or server-streaming call is checked
 * by its descriptor before the body sees it. Messages of a bidirectional stream are the body's to check, because a
 * session outlives a message that this version does not understand.
 */
export function addService<Service extends ServiceDefinition>(
  server: Server,
  service: Service,
  bodies: ServiceBodies<Service>,
  surroundings: HandlerSurroundings,
): void {
  const definition: Record<string, MethodDefinition<Any, Any>> = {};
  const handlers: UntypedServiceImplementation = {};
  for (const [name, method] of Object.entries<MethodDefinition<Any, Any>>(service)) {
    definition[name] = receiveAnything(logSerializerFailures(method, surroundings.logger));
    handlers[name] = wrap(method, bodies[name] as Any, surroundings);
  }
  server.addService(definition, handlers);
}

function wrap(
  method: MethodDefinition<Any, Any>,
  body: Any,
  surroundings: HandlerSurroundings,
): handleUnaryCall<Any, Any> | handleServerStreamingCall<Any, Any> | handleBidiStreamingCall<Any, Any> {
  if (method.requestStream) {
    return wrapBidi(
      (requests, stream, context) => (body as BidiBody<Any, Any>)(eachDecoded(requests), stream, context),
      surroundings,
    );
  }
  const validate = requestValidator(method.path);
  const checked = (request: Any, ...rest: Any[]) => {
    throwIfAny(validate(decoded(request)));
    return (body as (...all: Any[]) => Any)(request, ...rest);
  };
  return method.responseStream
    ? wrapServerStream(async (...call) => checked(...call), surroundings)
    : wrapUnary(async (...call) => checked(...call), surroundings);
}

/** @param path such as `/stageplane.v1.OrchestratorService/GetRun` */
export function requestValidator(path: string): (request: object) => readonly FieldViolation[] {
  return createMessageValidator(describedMethod(path).input.typeName);
}

/** Stands for bytes that are no message, until there is someone who can answer with a reason. */
const GARBAGE = Object.freeze({});

/** grpc-js answers bytes that are no message with INTERNAL, as if the fault were ours, and with no reason. */
function receiveAnything(method: MethodDefinition<Any, Any>): MethodDefinition<Any, Any> {
  return {
    ...method,
    requestDeserialize: (bytes) => {
      try {
        return method.requestDeserialize(bytes);
      } catch {
        return GARBAGE;
      }
    },
  };
}

function decoded<Request>(request: Request): Request {
  if (request !== GARBAGE) return request;
  const message = 'the bytes of the request are no message of this method: compare the versions of both sides';
  throw new RpcError(status.INVALID_ARGUMENT, 'MALFORMED_MESSAGE', message);
}

async function* eachDecoded<Request>(requests: AsyncIterable<Request>): AsyncIterable<Request> {
  for await (const request of requests) yield decoded(request);
}

/** grpc-js answers a response that cannot be encoded with INTERNAL and tells nobody why. */
function logSerializerFailures(method: MethodDefinition<Any, Any>, logger: Logger): MethodDefinition<Any, Any> {
  return {
    ...method,
    responseSerialize: (response) => {
      try {
        return method.responseSerialize(response);
      } catch (error) {
        logger.error({ err: error, method: method.path }, 'response cannot be encoded');
        throw error;
      }
    },
  };
}
