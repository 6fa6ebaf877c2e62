import type { NodeId, RunId } from '../ids.js';
import type { Draft } from './draft.js';
import { endDrain } from './drain.js';
import type { CallId } from './events.js';
import { fenceStages, loseNode } from './grace.js';
import { moveRun } from './run-lifecycle.js';

/** Stopping a run that is already ending changes nothing, and is no error. One that is to begin again does not. */
export function stopRun(draft: Draft, call: CallId, runId: RunId): void {
  if (!draft.run(runId)) return draft.answer(call, { kind: 'unknown-run', runId });
  moveRun(draft, runId, 'stop-requested');
  draft.answer(call, { kind: 'run', runId });
}

/** Forgets a run, but never one whose worker may still be alive somewhere. */
export function deleteRun(draft: Draft, call: CallId, runId: RunId): void {
  const run = draft.run(runId);
  if (!run) return draft.answer(call, { kind: 'unknown-run', runId });
  const lost = [...run.stages, ...run.remnants.map(({ stage }) => stage)].find(({ phase }) => phase === 'LOST');
  if (run.phase !== 'DONE' || lost) {
    const lostNode = lost && draft.node(lost.nodeId)?.name;
    return draft.answer(call, { kind: 'run-not-done', runId, phase: run.phase, lostNode });
  }
  draft.deleteRun(runId);
  draft.answer(call, { kind: 'deleted' });
}

/** Keeps new stages away from a node, or lets them come again and ends its drain (I14). What runs there goes on. */
export function cordonNode(draft: Draft, call: CallId, nodeId: NodeId, cordoned: boolean): void {
  const node = draft.node(nodeId);
  if (!node) return draft.answer(call, { kind: 'unknown-node', nodeId });
  const drainUntil = cordoned ? node.drainUntil : undefined;
  if (drainUntil === undefined) endDrain(draft, nodeId);
  if (node.cordoned !== cordoned || node.drainUntil !== drainUntil) draft.putNode({ ...node, cordoned, drainUntil });
  draft.answer(call, { kind: 'node', nodeId });
}

/** An operator knows that a machine is gone for good: no worker of its node is left, and what they reserved is free. */
export function deleteNode(draft: Draft, call: CallId, nodeId: NodeId): void {
  const node = draft.node(nodeId);
  const contact = draft.contact(nodeId);
  if (!node) return draft.answer(call, { kind: 'unknown-node', nodeId });
  if (contact?.session !== undefined) return draft.answer(call, { kind: 'node-connected', nodeId, name: node.name });
  // One that has redeemed its token and never connected has no contact.
  if (contact && !contact.lost) loseNode(draft, nodeId, contact, `node "${node.name}" was deleted`);
  fenceStages(draft, nodeId);
  draft.deleteNode(nodeId);
  if (nodeId > draft.cluster.goneNodeId) draft.cluster = { ...draft.cluster, goneNodeId: nodeId };
  draft.say('info', 'node deleted', { nodeId, nodeName: node.name });
  draft.answer(call, { kind: 'deleted' });
}
