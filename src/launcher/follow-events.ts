import {
  type OrchestratorServiceClient,
  OrchestratorServiceService as service,
  type WatchEventsRequest,
  type WatchEventsResponse,
} from '../../gen/stageplane/v1/orchestrator_service.js';
import { streamCall } from '../grpc/client.js';
import type { RpcError } from '../grpc/rpc-error.js';
import { backOff, isWorthWaiting } from './follow-run.js';

/** What a watch of all runs gives. */
export type EventNews =
  | { readonly kind: 'update'; readonly update: WatchEventsResponse }
  /** The stream broke; it is opened again after the last revision seen. */
  | { readonly kind: 'broken'; readonly error: RpcError };

/**
 * What happens to any run, across broken streams, until the signal fires. Throws RpcError when the orchestrator stays away for
 * `limits.watchRetryMillis`, or refuses.
 */
export async function* followEvents(
  client: OrchestratorServiceClient,
  request: WatchEventsRequest,
  signal: AbortSignal,
): AsyncGenerator<EventNews, void, undefined> {
  let next = request;
  let heard = Date.now();
  for (let attempt = 0; ; attempt += 1) {
    try {
      for await (const response of streamCall(client, service.watchEvents, next, { signal })) {
        attempt = 0;
        heard = Date.now();
        const { update } = response;
        if (update) next = { from: { $case: 'afterRevision', value: update.value.revision } };
        yield { kind: 'update', update: response };
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!isWorthWaiting(error, heard, signal)) throw error;
      if (attempt === 0) yield { kind: 'broken', error };
    }
    await backOff(attempt, signal);
  }
}
