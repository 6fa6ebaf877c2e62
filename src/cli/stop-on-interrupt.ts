import {
  type OrchestratorServiceClient,
  OrchestratorServiceService as service,
} from '../../gen/stageplane/v1/orchestrator_service.js';
import { unaryCall } from '../grpc/client.js';
import type { Interrupts } from './interrupts.js';
import type { RunDisplay } from './run-display.js';

interface StopOnInterrupt {
  readonly client: OrchestratorServiceClient;
  readonly display: Pick<RunDisplay, 'note'>;
  readonly runId: bigint;
  readonly interrupts: Interrupts;
}

/** The first Ctrl-C stops a run that is one's own. Call the result when nobody waits for that any more. */
export function stopOnInterrupt({ client, display, runId, interrupts }: StopOnInterrupt): () => void {
  // A stop that is not answered must not hold up the end of the wait.
  const waiting = new AbortController();
  const { signal } = waiting;
  const stop = () => {
    display.note('STOPPING', `stopping run ${runId}; press Ctrl-C again to leave it alone`);
    unaryCall(client, service.stopRun, { runId }, { signal }).catch((error: Error) => {
      if (!signal.aborted) display.note('STOP_FAILED', `run ${runId} could not be stopped: ${error.message}`);
    });
  };
  if (interrupts.first.aborted) stop();
  else interrupts.first.addEventListener('abort', stop, { once: true, signal });
  return () => waiting.abort();
}
