import type { HeldStageUsage } from '../../../gen/stageplane/v1/node_agent_service.js';
import { type NodeId, runId } from '../ids.js';
import type { Draft } from './draft.js';
import { findStage } from './run-lifecycle.js';

/** What a heartbeat says of the node's ready stages: latest wins, in memory only, and nothing of it is a commit. */
export function takeUsage(draft: Draft, id: NodeId, held: readonly HeldStageUsage[]): void {
  for (const { usage, residentBytes, stageIndex, generation, ...of } of held) {
    const found = findStage(draft, { runId: runId(of.runId), stageIndex, generation });
    if (!usage || found?.stage.nodeId !== id || found.stage.phase !== 'READY') continue;
    const { run, stage } = found;
    draft.putStage(run, { ...stage, volatile: { ...stage.volatile, usage, residentBytes } });
  }
}
