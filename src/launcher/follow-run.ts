import { setTimeout as sleep } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import {
  type OrchestratorServiceClient,
  OrchestratorServiceService as service,
  type WatchRunResponse,
} from '../../gen/stageplane/v1/orchestrator_service.js';
import { type Run, RunPhase } from '../../gen/stageplane/v1/run.js';
import { isLastEvent } from '../core/is-last-event.js';
import { limits } from '../core/limits.js';
import { streamCall, unaryCall } from '../grpc/client.js';
import { RpcError } from '../grpc/rpc-error.js';

/** What a watch of one run gives. */
export type RunNews =
  | { readonly kind: 'update'; readonly update: WatchRunResponse }
  /** The run as it is now: the watch had nothing more to say of it. */
  | { readonly kind: 'snapshot'; readonly run: Run }
  /** The stream broke; it is opened again from the last revision seen. */
  | { readonly kind: 'broken'; readonly error: RpcError };

/**
 * Everything that happens to a run after a revision, until it is DONE, across broken streams. Throws RpcError when the
 * orchestrator stays away for `limits.watchRetryMillis`, or refuses.
 */
export async function* followRun(
  client: OrchestratorServiceClient,
  runId: bigint,
  afterRevision: bigint,
  signal: AbortSignal,
): AsyncGenerator<RunNews, void, undefined> {
  let last = afterRevision;
  let heard = Date.now();
  for (let attempt = 0; ; attempt += 1) {
    try {
      for await (const update of streamCall(client, service.watchRun, { runId, afterRevision: last }, { signal })) {
        attempt = 0;
        heard = Date.now();
        last = newer(last, update);
        yield { kind: 'update', update };
        if (update.update?.$case === 'event' && isLastEvent(update.update.value)) return;
      }
      const { run } = await unaryCall(client, service.getRun, { runId }, { signal });
      if (run) yield { kind: 'snapshot', run };
      if (run?.phase === RunPhase.RUN_PHASE_DONE) return;
    } catch (error) {
      if (!isWorthWaiting(error, heard, signal)) throw error;
      if (attempt === 0) yield { kind: 'broken', error };
    }
    await backOff(attempt, signal);
  }
}

/** The run as it is now. Throws RpcError as `followRun` does, and as late. */
export async function readRun(
  client: OrchestratorServiceClient,
  runId: bigint,
  signal: AbortSignal,
): Promise<Run | undefined> {
  const since = Date.now();
  for (let attempt = 0; ; attempt += 1) {
    try {
      return (await unaryCall(client, service.getRun, { runId }, { signal })).run;
    } catch (error) {
      if (!isWorthWaiting(error, since, signal)) throw error;
    }
    await backOff(attempt, signal);
  }
}

/** @param since the last word of the orchestrator, milliseconds of the wall clock */
export function isWorthWaiting(error: unknown, since: number, signal: AbortSignal): error is RpcError {
  if (!(error instanceof RpcError) || signal.aborted || !mayHeal(error)) return false;
  return Date.now() - since <= limits.watchRetryMillis;
}

export async function backOff(attempt: number, signal: AbortSignal): Promise<void> {
  const delay = Math.min(limits.watchBackoffMinMillis * 2 ** attempt, limits.reconnectMillis);
  await sleep(delay, undefined, { signal }).catch(() => {});
}

/** Whether a call failed for want of a connection or of room, not because of what it asked. */
function mayHeal({ code, codeName, reason }: RpcError): boolean {
  if (code === status.UNAVAILABLE || code === status.RESOURCE_EXHAUSTED) return true;
  // A connection that breaks in the middle of a stream shows up as one of these, and without a server's own reason.
  const broken = [status.CANCELLED, status.INTERNAL, status.UNKNOWN, status.DEADLINE_EXCEEDED];
  return reason === codeName && broken.includes(code);
}

function newer(last: bigint, { update }: WatchRunResponse): bigint {
  if (update?.$case !== 'event' && update?.$case !== 'progress') return last;
  return update.value.revision > last ? update.value.revision : last;
}
