import type { OrchestratorServiceClient } from '../../gen/stageplane/v1/orchestrator_service.js';
import { type Run, RunPhase } from '../../gen/stageplane/v1/run.js';
import { followRun, readRun } from './follow-run.js';

/** The run once it is RUNNING, or past that without ever having been. Throws RpcError as `followRun` does. */
export async function untilRunning(
  client: OrchestratorServiceClient,
  runId: bigint,
  signal: AbortSignal,
): Promise<Run | undefined> {
  for await (const news of followRun(client, runId, 0n, signal)) {
    if (news.kind === 'snapshot' && isSettled(news.run)) return news.run;
    if (news.kind !== 'update' || news.update.update?.$case !== 'event') continue;
    if (news.update.update.value.detail?.$case !== 'runPhase') continue;
    // The watch tells of the past as well; what counts is the run as it is now.
    const run = await readRun(client, runId, signal);
    if (run && isSettled(run)) return run;
  }
  return readRun(client, runId, signal);
}

/** A run that tears down may still begin again as its next generation; one that is DONE does not. */
function isSettled({ phase }: Run): boolean {
  return phase === RunPhase.RUN_PHASE_RUNNING || phase === RunPhase.RUN_PHASE_DONE;
}
