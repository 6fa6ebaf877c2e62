import { createHash, randomUUID } from 'node:crypto';
import {
  type OrchestratorServiceClient,
  OrchestratorServiceService as service,
} from '../../../gen/stageplane/v1/orchestrator_service.js';
import { PlanRequest } from '../../../gen/stageplane/v1/planner.js';
import type { Run } from '../../../gen/stageplane/v1/run.js';
import { unaryCall } from '../../grpc/client.js';
import { listRuns } from '../../launcher/list-all.js';

/** What requests for the same plan begin with, by which a run of it is found again. */
export function requestPrefix(plan: PlanRequest): string {
  return `up-${createHash('sha256').update(PlanRequest.encode(plan).finish()).digest('hex').slice(0, 16)}-`;
}

/** Not the same twice: a run of an earlier request may be over, and would be the answer to it again. */
export function newRequestId(plan: PlanRequest): string {
  return requestPrefix(plan) + randomUUID().slice(0, 8);
}

/** The run that serves the very same plan already. */
export async function findServed(client: OrchestratorServiceClient, plan: PlanRequest): Promise<Run | undefined> {
  const prefix = requestPrefix(plan);
  for (const { runId, outcome } of await listRuns(client, true)) {
    if (outcome !== 0) continue;
    const { run } = await unaryCall(client, service.getRun, { runId });
    if (run?.requestId.startsWith(prefix)) return run;
  }
  return undefined;
}
