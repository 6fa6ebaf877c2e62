import type { ProvisionDelivery, StageDelivery } from '../../../../gen/stageplane/v1/node_agent_service.js';
import { StageDelivery as StageDeliveryCodec } from '../../../../gen/stageplane/v1/node_agent_service.js';
import { type StageFault, StageFaultReason } from '../../../../gen/stageplane/v1/run.js';
import { chooseAmong } from '../../choose-among.js';
import { runId } from '../../ids.js';
import { isThreaded } from '../../planner/engine-traits.js';
import type { StageKey } from '../state.js';
import type { ModelLookup } from './events.js';
import { type HeldStageState, stageLabel } from './state.js';
import type { Turn } from './turn.js';

/** Why a delivery is not taken, or undefined when it is. All or nothing: one refused stage refuses them all. */
export function refuseDelivery(
  turn: Turn,
  delivery: ProvisionDelivery,
  models: readonly ModelLookup[],
): StageFault | undefined {
  return (
    refuseEpoch(turn, delivery) ??
    refuseMalformed(turn, delivery) ??
    refuseGenerations(turn, delivery) ??
    refuseCapacity(turn, delivery) ??
    refuseEngines(turn, delivery) ??
    refuseThreads(turn, delivery) ??
    refuseModels(turn, delivery, models)
  );
}

/** The key of one stage of a delivery that has been found well-formed. */
export function deliveryKey(delivery: ProvisionDelivery, { provision }: StageDelivery): StageKey {
  return {
    runId: runId(provision?.runId ?? 0n),
    stageIndex: provision?.stageIndex ?? 0,
    generation: delivery.generation,
  };
}

function refuseEpoch(turn: Turn, delivery: ProvisionDelivery): StageFault | undefined {
  const { highestEpoch } = turn.state.identity;
  if (delivery.epoch >= highestEpoch) return undefined;
  return refuse(
    'STALE_EPOCH',
    `the provision comes from epoch ${delivery.epoch}, this agent has seen ${highestEpoch}: a newer orchestrator is in charge`,
  );
}

function refuseMalformed(turn: Turn, delivery: ProvisionDelivery): StageFault | undefined {
  const problem = malformation(turn, delivery);
  return problem === undefined
    ? undefined
    : refuse(
        'INVALID_DELIVERY',
        `delivery ${delivery.deliveryId} ${problem}: report this as a defect of the orchestrator`,
      );
}

function malformation(turn: Turn, { generation, stages }: ProvisionDelivery): string | undefined {
  const first = stages[0]?.provision;
  if (!first) return 'has no stage';
  if (generation === 0) return 'has generation 0';
  for (const { provision, settings } of stages) {
    if (!provision || !settings) return 'has a stage without provision or settings';
    if (provision.runId !== first.runId) return `mixes run ${first.runId} with run ${provision.runId}`;
    if (provision.nodeId !== turn.state.identity.nodeId) {
      return `is for node ${provision.nodeId}, this is node ${turn.state.identity.nodeId}`;
    }
    if (provision.stageIndex >= provision.stageCount)
      return `has stage ${provision.stageIndex} of ${provision.stageCount}`;
  }
  const indices = new Set(stages.map(({ provision }) => provision?.stageIndex));
  return indices.size === stages.length ? undefined : 'names a stage twice';
}

function refuseGenerations(turn: Turn, delivery: ProvisionDelivery): StageFault | undefined {
  for (const stage of delivery.stages) {
    const key = deliveryKey(delivery, stage);
    const newest = Math.max(0, ...turn.generationsOf(key).map((held) => held.key.generation));
    if (key.generation < newest) {
      return refuse(
        'STALE_GENERATION',
        `${stageLabel(key)} is older than generation ${newest}, which this agent holds`,
      );
    }
    const held = turn.stage(key);
    if (held && !isSame(held, stage)) {
      return refuse(
        'CONFLICTING_DELIVERY',
        `this agent holds another provision for ${stageLabel(key)}: stop that one first`,
      );
    }
  }
  return undefined;
}

function refuseCapacity(turn: Turn, delivery: ProvisionDelivery): StageFault | undefined {
  const { maxStages, name } = turn.rules;
  const fresh = newStages(turn, delivery);
  if (fresh.length > 0 && turn.state.leaving !== 'no') {
    return refuse('NODE_FULL', `the agent of node "${name}" is shutting down: use another node`);
  }
  const held = turn.state.stages.size;
  if (fresh.length === 0 || held + fresh.length <= maxStages) return undefined;
  const sums = `holds ${held} stages, ${fresh.length} more would pass its limit of ${maxStages}`;
  return refuse('NODE_FULL', `node "${name}" ${sums}: stop a run or use another node`);
}

function refuseEngines(turn: Turn, delivery: ProvisionDelivery): StageFault | undefined {
  for (const { settings } of newStages(turn, delivery)) {
    const offer = turn.state.engines.find(({ name }) => name === settings?.engine);
    if (offer?.deviceIds.includes(settings?.device ?? '')) continue;
    const offers = turn.state.engines.map(({ name, deviceIds }) => `${name} on ${deviceIds.join(' or ')}`);
    const missing = `engine "${settings?.engine}" on device "${settings?.device}"`;
    return refuse('ENGINE_UNAVAILABLE', `node "${turn.rules.name}" has no ${missing}, ${chooseAmong(offers)}`);
  }
  return undefined;
}

/** Threads are reserved like memory. The orchestrator counts them too, but what is here only the agent knows. */
function refuseThreads(turn: Turn, delivery: ProvisionDelivery): StageFault | undefined {
  const cores = turn.state.physicalCores;
  const newcomers = newStages(turn, delivery);
  const fresh = threadsOf(newcomers);
  // The older generation of a newcomer makes room before its worker starts.
  const replaced = new Set(newcomers.flatMap((stage) => turn.generationsOf(deliveryKey(delivery, stage))));
  const others = [...turn.state.stages.values()].filter((stage) => computes(stage) && !replaced.has(stage));
  const held = threadsOf(others.map((stage) => stage.delivery));
  if (cores === 0 || fresh === 0 || held + fresh <= cores) return undefined;
  const sums = `has ${cores} cores, its stages compute with ${held} threads, and ${fresh} more would pass that`;
  return refuse(
    'NODE_FULL',
    `node "${turn.rules.name}" ${sums}: stop a run, ask for fewer threads or use another node`,
  );
}

/** Whether a process of the stage is there or will be. */
function computes({ phase, worker }: HeldStageState): boolean {
  return phase !== 'STOPPED' && worker !== 'reaped';
}

function threadsOf(stages: readonly StageDelivery[]): number {
  return stages.reduce(
    (sum, { settings }) => sum + (settings && isThreaded(settings.engine) ? settings.threads : 0),
    0,
  );
}

function refuseModels(turn: Turn, delivery: ProvisionDelivery, models: readonly ModelLookup[]): StageFault | undefined {
  // A stage that is held already has its file open: whether the path still leads there is of no interest.
  const fresh = new Set(newStages(turn, delivery));
  for (const [index, stage] of delivery.stages.entries()) {
    const model = models[index];
    if (fresh.has(stage) && model?.kind !== 'found')
      return refuse('MODEL_NOT_FOUND', model?.message ?? 'no model was looked for');
  }
  return undefined;
}

/** The stages of a delivery that are not held yet. */
function newStages(turn: Turn, delivery: ProvisionDelivery): StageDelivery[] {
  return delivery.stages.filter((stage) => !turn.stage(deliveryKey(delivery, stage)));
}

function isSame(held: HeldStageState, delivered: StageDelivery): boolean {
  const text = (delivery: StageDelivery) => JSON.stringify(StageDeliveryCodec.toJSON(delivery));
  return text(held.delivery) === text(delivered);
}

type Refusal =
  | 'STALE_EPOCH'
  | 'INVALID_DELIVERY'
  | 'STALE_GENERATION'
  | 'CONFLICTING_DELIVERY'
  | 'NODE_FULL'
  | 'ENGINE_UNAVAILABLE'
  | 'MODEL_NOT_FOUND';

function refuse(reason: Refusal, message: string): StageFault {
  return { reason: StageFaultReason[`STAGE_FAULT_REASON_${reason}`], message, logTail: [] };
}
