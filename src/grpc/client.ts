import {
  type CallOptions,
  type ChannelCredentials,
  type Client,
  type ClientOptions,
  credentials,
  Metadata,
} from '@grpc/grpc-js';
import { limits } from '../core/limits.js';
import { clientOptions } from './client-options.js';
import { fromServiceError } from './from-service-error.js';

import { serverNameOptions } from './tls-credentials.js';

type ClientConstructor<C extends Client> = new (
  address: string,
  channelCredentials: ChannelCredentials,
  options?: Partial<ClientOptions>,
) => C;

/** A method as ts-proto's service definitions describe it. */
interface Method<Request, Response> {
  readonly path: string;
  readonly requestSerialize: (request: Request) => Buffer;
  readonly responseDeserialize: (bytes: Buffer) => Response;
}

export interface CallSettings {
  /** Ends the call with CANCELLED. */
  readonly signal?: AbortSignal;
  /** Milliseconds until DEADLINE_EXCEEDED, at most `limits.deadlineMillis`. */
  readonly deadlineMillis?: number;
}

/**
 * Makes a client; it connects with its first call, and must be closed.
 *
 * @param address `host:port` or `unix:/path`
 * @param type client class of ts-proto, such as `OrchestratorServiceClient`
 */
export function dial<C extends Client>(
  address: string,
  type: ClientConstructor<C>,
  options: ClientOptions = clientOptions,
  channelCredentials: ChannelCredentials = credentials.createInsecure(),
): C {
  return new type(address, channelCredentials, { ...options, ...serverNameOptions(address, channelCredentials) });
}

/**
 * One unary call, such as `unaryCall(client, OrchestratorServiceService.getRun, { runId })`. The deadline is
 * `limits.defaultDeadlineMillis` when none is given. Rejects with RpcError alone.
 */
export function unaryCall<Request, Response>(
  client: Client,
  method: Method<Request, Response>,
  request: Request,
  settings: CallSettings = {},
): Promise<Response> {
  const { signal, deadlineMillis = limits.defaultDeadlineMillis } = settings;
  return new Promise((resolve, reject) => {
    const call = client.makeUnaryRequest(
      method.path,
      method.requestSerialize,
      method.responseDeserialize,
      request,
      new Metadata(),
      callOptions(deadlineMillis),
      (error, response) => {
        signal?.removeEventListener('abort', cancel);
        if (error) reject(fromServiceError(error));
        else resolve(response as Response);
      },
    );
    const cancel = () => call.cancel();
    onAbort(signal, cancel);
  });
}

/**
 * One server stream, message by message, without a deadline unless one is given. Leaving the loop cancels the call.
 * Throws RpcError alone.
 */
export async function* streamCall<Request, Response>(
  client: Client,
  method: Method<Request, Response>,
  request: Request,
  { signal, deadlineMillis }: CallSettings = {},
): AsyncGenerator<Response, void, undefined> {
  const call = client.makeServerStreamRequest(
    method.path,
    method.requestSerialize,
    method.responseDeserialize,
    request,
    new Metadata(),
    deadlineMillis === undefined ? {} : callOptions(deadlineMillis),
  );
  // The cancel below ends in an error event that nobody waits for.
  call.on('error', () => {});
  const cancel = () => call.cancel();
  onAbort(signal, cancel);
  try {
    for await (const message of call) yield message as Response;
  } catch (error) {
    throw fromServiceError(error);
  } finally {
    signal?.removeEventListener('abort', cancel);
    cancel();
  }
}

function callOptions(deadlineMillis: number): CallOptions {
  return {
    deadline: Date.now() + Math.min(deadlineMillis, limits.deadlineMillis),
  };
}

function onAbort(signal: AbortSignal | undefined, cancel: () => void): void {
  if (signal?.aborted) cancel();
  else signal?.addEventListener('abort', cancel, { once: true });
}
