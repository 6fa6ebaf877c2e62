import type { DrainingRun } from '../../../gen/stageplane/v1/node.js';
import { RunMode } from '../../../gen/stageplane/v1/planner.js';
import { type StageFault, StageFaultReason } from '../../../gen/stageplane/v1/run.js';
import { millis, type NodeId, type RunId, wallMillis } from '../ids.js';
import { limits } from '../limits.js';
import { planAgain } from './begin-again.js';
import type { Draft } from './draft.js';
import type { CallId } from './events.js';
import { liveStages } from './pool.js';
import { faultRun } from './run-lifecycle.js';
import { isLive } from './run-transitions.js';
import type { NodeState, RunState, StageState } from './state.js';
import { followWallClock } from './wall-clock.js';

/** Begins to free a node, or gives its drain another deadline. @param deadline milliseconds from now */
export function drainNode(draft: Draft, call: CallId, nodeId: NodeId, deadline: number): void {
  followWallClock(draft);
  const node = draft.node(nodeId);
  if (!node) return draft.answer(call, { kind: 'unknown-node', nodeId });
  draft.putNode({ ...node, drainUntil: wallMillis(draft.wall + deadline) });
  draft.answer(call, { kind: 'node', nodeId });
  advanceDrain(draft, nodeId);
}

/** Moves what fits elsewhere, ends what is left at the deadline, and looks again later when something still waits. */
export function advanceDrain(draft: Draft, id: NodeId): void {
  followWallClock(draft);
  const node = draft.node(id);
  if (node?.drainUntil === undefined) return;
  const timeLeft = node.drainUntil - draft.wall;
  const end = (run: RunState) => faultRun(draft, run.runId, drained(node, run), 'orchestrator', id);
  const live = () =>
    draft.runsOn(id).filter(({ phase, stages }) => isLive(phase) && stages.some(({ nodeId }) => nodeId === id));
  if (timeLeft <= 0) return live().forEach(end);
  const [next] = moveable(draft, live());
  if (next && draft.mayPlan() && isReadyToMove(draft, next)) end(next);
  // Those who follow the drain learn what it waits for.
  draft.dirtyNodes.add(id);
  const waiting = live();
  if (waiting.length === 0) return;
  const pause = moveable(draft, waiting).length > 0 ? limits.planPauseMillis : limits.drainCheckMillis;
  draft.arm({ kind: 'drain', nodeId: id }, millis(draft.now + Math.min(timeLeft, pause)));
}

/** Whether a run goes now. It takes no prompt from when it fits elsewhere, and lets the answers under way end for a while. */
function isReadyToMove(draft: Draft, run: RunState): boolean {
  const { runId, generation, phase, volatile } = run;
  const fits = planAgain(draft, run, runId).kind === 'planned';
  const begun = volatile.moving ?? { since: draft.now, isQuiet: phase !== 'RUNNING' };
  const moving = fits ? begun : undefined;
  draft.putRun({ ...run, volatile: { ...volatile, moveTriedAt: draft.now, moving } });
  if (!moving) return false;
  if (moving.isQuiet || draft.now - moving.since >= limits.moveAnswersMillis) return true;
  if (!volatile.moving) draft.perform({ kind: 'await-quiet', runId, generation });
  return false;
}

/** No answer of a run is under way: if it waited for that to move, it moves. */
export function tokenEndpointQuiet(draft: Draft, id: RunId, generation: number): void {
  const run = draft.run(id);
  if (run?.generation !== generation || !run.volatile.moving) {
    draft.ignored[run?.generation === generation ? 'out-of-date' : 'old-generation'] += 1;
    return;
  }
  const moving = { ...run.volatile.moving, isQuiet: true };
  draft.putRun({ ...run, volatile: { ...run.volatile, moving, moveTriedAt: undefined } });
  for (const nodeId of new Set(run.stages.map((stage) => stage.nodeId))) advanceDrain(draft, nodeId);
}

/** Who was about to move stays, and takes prompts again. */
export function endDrain(draft: Draft, id: NodeId): void {
  for (const run of draft.runsOn(id)) {
    if (run.volatile.moving) draft.putRun({ ...run, volatile: { ...run.volatile, moving: undefined } });
  }
}

/**
 * Runs that serve and have not been tried of late, in their order. None is taken down for a move that is bound to fail:
 * until the deadline there may be room yet.
 */
function moveable(draft: Draft, runs: readonly RunState[]): RunState[] {
  const { drainCheckMillis } = limits;
  return runs.filter(({ mode, restart, volatile: { moveTriedAt } }) => {
    if (mode === RunMode.RUN_MODE_ONE_SHOT || restart?.basis === undefined) return false;
    return moveTriedAt === undefined || draft.now - moveTriedAt >= drainCheckMillis;
  });
}

/** What a node that is drained waits for, by ascending run id. */
export function drainingRuns(draft: Draft, id: NodeId): DrainingRun[] {
  const stages = new Map<RunState, StageState[]>();
  for (const { runId, stage } of liveStages(draft, draft.node(id)!)) {
    const run = draft.run(runId)!;
    stages.set(run, [...(stages.get(run) ?? []), stage]);
  }
  return [...stages]
    .map(([run, held]) => ({ runId: run.runId, stages: held.length, waits: whatFor(run, held) }))
    .sort((a, b) => (a.runId < b.runId ? -1 : 1));
}

function whatFor({ phase, mode, restart, volatile }: RunState, held: readonly StageState[]): string {
  if (held.every((stage) => stage.phase === 'LOST')) {
    return 'is lost with its node: start the agent there, wait for its lease to end, or delete the node';
  }
  if (!isLive(phase)) return 'is being stopped';
  if (mode === RunMode.RUN_MODE_ONE_SHOT) return 'goes on until its prompt is answered';
  if (volatile.moving) return 'moves once its answers have ended';
  return restart ? 'waits until it fits on other nodes' : 'serves until the deadline: it may not begin again';
}

function drained({ name }: NodeState, { runId, restart }: RunState): StageFault {
  const next = restart?.basis ? 'it begins again if it fits on other nodes' : 'create it again, on other nodes';
  return {
    reason: StageFaultReason.STAGE_FAULT_REASON_NODE_DRAINED,
    message: `node "${name}", which held a stage of run ${runId}, is drained: ${next}`,
    logTail: [],
  };
}
