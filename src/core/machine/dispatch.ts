import type { ProvisionDelivery, StageDelivery } from '../../../gen/stageplane/v1/node_agent_service.js';
import type { RunPlan } from '../../../gen/stageplane/v1/plan.js';
import { type NodeId, ORCHESTRATOR_NODE_ID, type SessionId } from '../ids.js';
import { stageProjector } from '../planner/derive-stage-provision.js';
import type { Draft } from './draft.js';
import { patchRemnant, remnantKey } from './remnants.js';
import { armStage, findStage, keyOf, moveStage } from './run-lifecycle.js';
import { isLive } from './run-transitions.js';
import type { RunState, StageKey, StageState, StageVolatile, UnansweredDelivery } from './state.js';

/**
 * Sends what a node's stages need and its session has not been told yet. Derived from the stages' phases, so a turn,
 * a reconnect and a restart all send the same (I4, I19): the stages are the outbox.
 */
export function dispatchTo(draft: Draft, id: NodeId): void {
  const contact = draft.contact(id);
  if (contact?.session === undefined || contact.reconciledAt === undefined) return;
  for (const run of draft.runsOn(id)) {
    const stages = run.stages.filter((stage) => stage.nodeId === id);
    const unsent = stages.filter((stage) => needsProvision(run, stage, contact.session));
    if (unsent.length > 0) provision(draft, contact.session, run, unsent);
    for (const stage of stages) {
      if (needsStop(stage, contact.session)) stop(draft, contact.session, keyOf(run, stage), `run ${run.runId} ended`);
    }
    for (const remnant of run.remnants) {
      if (remnant.stage.nodeId !== id || !needsStop(remnant.stage, contact.session)) continue;
      stop(
        draft,
        contact.session,
        remnantKey(run, remnant),
        `run ${run.runId} goes on as generation ${run.generation}`,
      );
    }
  }
}

/** Tells an agent to end a stage, also one that no run knows. */
export function sendStop(draft: Draft, session: SessionId, key: StageKey, reason: string): void {
  const value = {
    ...key,
    deliveryId: takeDeliveryId(draft, session),
    reason,
    epoch: draft.cluster.epoch,
  };
  draft.send(session, { $case: 'stop', value });
}

function needsProvision(run: RunState, stage: StageState, session: SessionId | undefined): boolean {
  if (!isLive(run.phase)) return false;
  return stage.phase === 'PENDING' || (stage.phase === 'SENT' && stage.volatile.provisionedIn !== session);
}

function needsStop(stage: StageState, session: SessionId | undefined): boolean {
  return (stage.phase === 'STOPPING' || stage.phase === 'LOST') && stage.volatile.stoppedIn !== session;
}

/** All stages of one run for one node travel in one message with one acknowledgement. */
function provision(draft: Draft, session: SessionId, run: RunState, stages: readonly StageState[]): void {
  const deliveryId = takeDeliveryId(draft, session);
  const value: ProvisionDelivery = {
    deliveryId,
    generation: run.generation,
    epoch: draft.cluster.epoch,
    stages: stages.map((stage) => stageDelivery(run, stage.index)),
  };
  for (const stage of stages) {
    const key = keyOf(run, stage);
    // SENT is committed before the send: a crash in between is a reconnect, which sends again.
    if (stage.phase === 'PENDING') moveStage(draft, key, 'delivery-sent');
    remember(draft, key, { provisionedIn: session, since: draft.now });
    armStage(draft, key);
  }
  const state = draft.session(session);
  if (state) {
    const delivery = {
      runId: run.runId,
      generation: run.generation,
      stageIndices: stages.map((stage) => stage.index),
    };
    draft.putSession({
      ...state,
      unanswered: new Map([...state.unanswered].filter(([, other]) => isOpen(draft, other))).set(deliveryId, delivery),
    });
  }
  draft.send(session, { $case: 'provision', value });
}

/** An answer may still mean something. Of an agent that never answers nothing else would ever be forgotten (I16). */
function isOpen(draft: Draft, { runId, generation, stageIndices }: UnansweredDelivery): boolean {
  return stageIndices.some((stageIndex) => {
    const phase = findStage(draft, { runId, generation, stageIndex })?.stage.phase;
    return phase !== undefined && phase !== 'STOPPED';
  });
}

function stop(draft: Draft, session: SessionId, key: StageKey, reason: string): void {
  remember(draft, key, { stoppedIn: session });
  armStage(draft, key);
  sendStop(draft, session, key, reason);
}

function stageDelivery(run: RunState, index: number): StageDelivery {
  const outcome = projectorOf(run.plan)(index);
  if (outcome.kind !== 'projected') throw new Error(`run ${run.runId} has a committed plan without stage ${index}`);
  return {
    provision: outcome.provision,
    settings: run.settings[index],
    producerNodeId: index === 0 ? ORCHESTRATOR_NODE_ID : run.stages[index - 1]!.nodeId,
  };
}

/** A committed plan stays as it is, and its stages are told one node after the other. */
const projectors = new WeakMap<RunPlan, ReturnType<typeof stageProjector>>();

function projectorOf(plan: RunPlan): ReturnType<typeof stageProjector> {
  const projector = projectors.get(plan) ?? stageProjector(plan);
  projectors.set(plan, projector);
  return projector;
}

function remember(draft: Draft, key: StageKey, patch: Partial<StageVolatile>): void {
  const found = findStage(draft, key);
  if (!found) return patchRemnant(draft, key, patch);
  const { run, stage } = found;
  draft.putStage(run, { ...stage, volatile: { ...stage.volatile, ...patch } });
}

function takeDeliveryId(draft: Draft, session: SessionId): bigint {
  const state = draft.session(session);
  if (!state) throw new Error('a delivery needs a session');
  draft.putSession({ ...state, nextDeliveryId: state.nextDeliveryId + 1n });
  return state.nextDeliveryId;
}
