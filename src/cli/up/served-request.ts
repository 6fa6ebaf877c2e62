import { createHash, randomUUID } from 'node:crypto';
import {
  type OrchestratorServiceClient,
  OrchestratorServiceService as service,
} from '../../../gen/stageplane/v1/orchestrator_service.js';
import { PlanRequest } from '../../../gen/stageplane/v1/planner.js';
import type { Run } from '../../../gen/stageplane/v1/run.js';
import { unaryCall } from '../../grpc/client.js';
import { followRun } from '../../launcher/follow-run.js';
import { listRuns } from '../../launcher/list-all.js';

const PREFIX = 'up-';

/** What requests for the same plan begin with, by which a run of it is found again. */
export function requestPrefix(plan: PlanRequest): string {
  return `${PREFIX}${createHash('sha256').update(PlanRequest.encode(plan).finish()).digest('hex').slice(0, 16)}-`;
}

/** Not the same twice: a run of an earlier request may be over, and would be the answer to it again. */
export function newRequestId(plan: PlanRequest): string {
  return requestPrefix(plan) + randomUUID().slice(0, 8);
}

/** The run that serves the very same plan already. */
export async function findServed(client: OrchestratorServiceClient, plan: PlanRequest): Promise<Run | undefined> {
  for await (const run of liveRuns(client)) if (run.requestId.startsWith(requestPrefix(plan))) return run;
  return undefined;
}

/**
 * Ends what an `up` left that was killed and had asked for other plans: they would begin again, and nobody waits for them.
 * For an orchestrator that only `up` starts, when it has just been started.
 */
export async function endAbandoned(
  client: OrchestratorServiceClient,
  plan: PlanRequest,
  signal: AbortSignal,
): Promise<void> {
  for await (const { runId, requestId, revision } of liveRuns(client)) {
    if (!requestId.startsWith(PREFIX) || requestId.startsWith(requestPrefix(plan))) continue;
    await unaryCall(client, service.stopRun, { runId });
    for await (const _ of followRun(client, runId, revision, signal));
  }
}

async function* liveRuns(client: OrchestratorServiceClient): AsyncGenerator<Run, void> {
  for (const { runId, outcome } of await listRuns(client, true)) {
    if (outcome !== 0) continue;
    const { run } = await unaryCall(client, service.getRun, { runId });
    if (run !== undefined) yield run;
  }
}
