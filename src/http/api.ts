import type { JsonValue } from '@bufbuild/protobuf';
import { type MethodDefinition, status } from '@grpc/grpc-js';
import type { FastifyInstance, FastifyPluginAsync } from 'fastify';
import type { Logger } from 'pino';
import { OrchestratorServiceService } from '../../gen/stageplane/v1/orchestrator_service.js';
import type { LocalCaller, LocalCalls } from '../grpc/local-calls.js';
import { RpcError } from '../grpc/rpc-error.js';
import { type Cursor, cursors } from './cursors.js';
import { type ServerSentEvent, sendEvents } from './event-stream.js';
import { refusalOf } from './refusal-of.js';
import { type RpcJson, rpcJson } from './rpc-json.js';

// biome-ignore lint/suspicious/noExplicitAny: requests and responses of every method pass here.
type Any = any;

export type OrchestratorCalls = LocalCalls<typeof OrchestratorServiceService>;

/**
 * OrchestratorService as JSON: `POST /api/GetRun` with a request, and for a method that streams
 * `GET /api/WatchRun?request={...}` as server-sent events.
 */
export function api(calls: OrchestratorCalls, logger: Logger): FastifyPluginAsync {
  return async (app) => {
    for (const [name, method] of Object.entries<MethodDefinition<Any, Any>>(OrchestratorServiceService)) {
      const json = rpcJson(method);
      const call = calls[name as keyof OrchestratorCalls] as Any;
      const path = `/api/${method.path.split('/').at(-1)}`;
      if (method.responseStream) addStream(app, path, { call, json, cursor: cursors[name], logger });
      else
        app.post(path, async ({ body, caller }) =>
          json.writeResponse(await call(json.readRequest(body as JsonValue | undefined), caller)),
        );
    }
  };
}

interface StreamParts {
  readonly call: (request: Any, caller: LocalCaller) => AsyncGenerator<Any, void>;
  readonly json: RpcJson;
  readonly cursor: Cursor | undefined;
  readonly logger: Logger;
}

function addStream(app: FastifyInstance, path: string, parts: StreamParts): void {
  app.get<{ Querystring: { request?: string } }>(path, async ({ query, headers, caller }, reply) => {
    const asked = parts.json.readRequest(parseJson(query.request ?? '{}'));
    const last = headers['last-event-id'];
    const request = parts.cursor && typeof last === 'string' ? parts.cursor.resume(asked, last) : asked;
    return sendEvents(reply, eventsOf(parts, request, caller));
  });
}

/** How a stream ends is an event too: a browser cannot tell an end from a cut, and would ask again for ever. */
async function* eventsOf(
  { call, json, cursor, logger }: StreamParts,
  request: Any,
  caller: LocalCaller,
): AsyncGenerator<ServerSentEvent, void> {
  try {
    for await (const response of call(request, caller)) {
      const id = cursor?.idOf(response);
      yield { ...(id !== undefined && { id }), data: JSON.stringify(json.writeResponse(response)) };
    }
    yield { event: 'end', data: '{}' };
  } catch (thrown) {
    const { statusCode: _, ...error } = refusalOf(thrown, logger);
    yield { event: 'refused', data: JSON.stringify({ error }) };
  }
}

function parseJson(text: string): JsonValue {
  try {
    return JSON.parse(text);
  } catch {
    throw new RpcError(
      status.INVALID_ARGUMENT,
      'MALFORMED_MESSAGE',
      '?request= is no JSON: write an object, such as {"runId":"1"}',
    );
  }
}
