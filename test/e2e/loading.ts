import {
  type OrchestratorServiceClient,
  OrchestratorServiceService as Service,
} from '../../gen/stageplane/v1/orchestrator_service.js';
import { StagePhase } from '../../gen/stageplane/v1/run.js';
import { streamCall } from '../../src/grpc/client.js';

/** Resolves when so many stages of a run are LOADING. */
export async function loading(client: OrchestratorServiceClient, runId: bigint, stages: number): Promise<void> {
  const seen = new Set<number>();
  for await (const { update } of streamCall(client, Service.watchRun, { runId, afterRevision: 0n })) {
    if (update?.$case !== 'event' || update.value.detail?.$case !== 'stagePhase') continue;
    const { stageIndex, phase } = update.value.detail.value;
    if (phase === StagePhase.STAGE_PHASE_LOADING) seen.add(stageIndex);
    if (seen.size >= stages) return;
  }
}
