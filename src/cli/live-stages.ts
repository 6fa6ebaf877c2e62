import { status } from '@grpc/grpc-js';
import {
  type OrchestratorServiceClient,
  OrchestratorServiceService as service,
} from '../../gen/stageplane/v1/orchestrator_service.js';
import { type Run, StagePhase } from '../../gen/stageplane/v1/run.js';
import type { CommittedStage } from '../core/model/node-budget.js';
import { unaryCall } from '../grpc/client.js';
import { RpcError } from '../grpc/rpc-error.js';
import { listRuns } from '../launcher/list-all.js';

/** A stage of a live run: what its plan reserved on which device, and what it held there when it had loaded. */
export interface LiveStage extends CommittedStage {
  readonly deviceId: string;
}

/** The stages that live runs have on one node. One call per live run. */
export async function liveStagesOn(client: OrchestratorServiceClient, nodeId: bigint): Promise<LiveStage[]> {
  const stages: LiveStage[] = [];
  for (const { runId } of await listRuns(client, true)) {
    const run = await runOrNone(client, runId);
    if (run) stages.push(...stagesOn(run, nodeId));
  }
  return stages;
}

/** What a stage was promised is its own until it is STOPPED. */
function stagesOn({ stages, settings }: Run, nodeId: bigint): LiveStage[] {
  return stages
    .filter((stage) => stage.nodeId === nodeId && stage.phase !== StagePhase.STAGE_PHASE_STOPPED)
    .map(({ stageIndex, footprint }) => ({
      deviceId: settings[stageIndex]?.device ?? '',
      reservedBytes: settings[stageIndex]?.reservedBytes ?? 0n,
      residentBytes: footprint?.deviceBytes ?? 0n,
    }));
}

/** A run may be deleted between two calls. */
async function runOrNone(client: OrchestratorServiceClient, runId: bigint): Promise<Run | undefined> {
  try {
    return (await unaryCall(client, service.getRun, { runId })).run;
  } catch (error) {
    if (error instanceof RpcError && error.code === status.NOT_FOUND) return undefined;
    throw error;
  }
}
