import type { HeldStageUsage } from '../../../gen/stageplane/v1/node_agent_service.js';
import type { NodeId } from '../ids.js';
import type { Draft } from './draft.js';
import type { RunState, StageState } from './state.js';

/** What a heartbeat says of the node's ready stages: latest wins, in memory only, and nothing of it is a commit. */
export function takeUsage(draft: Draft, id: NodeId, held: readonly HeldStageUsage[]): void {
  if (held.length === 0) return;
  const byStage = new Map(held.map((entry) => [`${entry.runId}/${entry.stageIndex}/${entry.generation}`, entry]));
  const heldBy = (run: RunState, stage: StageState) =>
    stage.nodeId === id && stage.phase === 'READY'
      ? byStage.get(`${run.runId}/${stage.index}/${run.generation}`)
      : undefined;
  for (const run of draft.runsOn(id)) {
    const stages = run.stages.map((stage) => {
      const entry = heldBy(run, stage);
      if (!entry?.usage) return stage;
      const { usage, residentBytes } = entry;
      return { ...stage, volatile: { ...stage.volatile, usage, residentBytes } };
    });
    draft.putRun({ ...run, stages });
  }
}
