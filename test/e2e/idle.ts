import type { OrchestratorServiceClient } from '../../gen/stageplane/v1/orchestrator_service.js';
import type { Run } from '../../gen/stageplane/v1/run.js';
import { getRun } from '../support/running-orchestrator.js';

/** Resolves with the run once its stages and its endpoint hold no generation session. */
export async function idle(client: OrchestratorServiceClient, runId: bigint): Promise<Run> {
  for (;;) {
    const run = await getRun(client, runId);
    const { heldSessions, waitingPrompts, runningAnswers } = run.textLoad ?? { heldSessions: 1 };
    const held = run.stages.map(({ usage }) => usage && usage.heldSessions + Number(usage.heldTokens));
    if (!heldSessions && !waitingPrompts && !runningAnswers && held.every((count) => count === 0)) return run;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
