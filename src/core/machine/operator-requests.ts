import type { NodeId, RunId } from '../ids.js';
import type { Draft } from './draft.js';
import type { CallId } from './events.js';
import { moveRun } from './run-lifecycle.js';

/** Stopping a run that is already ending changes nothing, and is no error. */
export function stopRun(draft: Draft, call: CallId, runId: RunId): void {
  if (!draft.run(runId)) return draft.answer(call, { kind: 'unknown-run', runId });
  moveRun(draft, runId, 'stop-requested');
  draft.answer(call, { kind: 'run', runId });
}

/** Forgets a run, but never one whose worker may still be alive somewhere. */
export function deleteRun(draft: Draft, call: CallId, runId: RunId): void {
  const run = draft.run(runId);
  if (!run) return draft.answer(call, { kind: 'unknown-run', runId });
  const lost = run.stages.find((stage) => stage.phase === 'LOST');
  if (run.phase !== 'DONE' || lost) {
    const lostNode = lost && draft.node(lost.nodeId)?.name;
    return draft.answer(call, { kind: 'run-not-done', runId, phase: run.phase, lostNode });
  }
  draft.deleteRun(runId);
  draft.answer(call, { kind: 'deleted' });
}

/** Keeps new stages away from a node, or lets them come again (I14). What runs there goes on. */
export function cordonNode(draft: Draft, call: CallId, nodeId: NodeId, cordoned: boolean): void {
  const node = draft.node(nodeId);
  if (!node) return draft.answer(call, { kind: 'unknown-node', nodeId });
  if (node.cordoned !== cordoned) draft.putNode({ ...node, cordoned });
  draft.answer(call, { kind: 'node', nodeId });
}
