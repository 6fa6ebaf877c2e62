import type { ProvisionDelivery, StopDelivery } from '../../../../gen/stageplane/v1/node_agent_service.js';
import { runId } from '../../ids.js';
import type { ModelLookup } from './events.js';
import { deliveryKey, refuseDelivery } from './refuse-delivery.js';
import { report } from './reports.js';
import { holdStage, stopStage } from './stage-lifecycle.js';
import type { Turn } from './turn.js';

/** A provision is taken whole or refused whole. What is held already is acknowledged again and starts nothing. */
export function provisionDelivered(turn: Turn, delivery: ProvisionDelivery, models: readonly ModelLookup[]): void {
  const { deliveryId } = delivery;
  const status = refuseDelivery(turn, delivery, models);
  if (status) {
    turn.say('warn', 'provision refused', { deliveryId, why: status.message });
    turn.send({ $case: 'nack', value: { deliveryId, status } });
    return;
  }
  seeEpoch(turn, delivery.epoch);
  turn.send({ $case: 'ack', value: { deliveryId } });
  for (const [index, stage] of delivery.stages.entries()) {
    const key = deliveryKey(delivery, stage);
    const model = models[index];
    if (!turn.stage(key) && model?.kind === 'found') holdStage(turn, key, stage, model.path);
  }
}

/** A stop of what is not held is answered too: the orchestrator wants to know that no worker is left. */
export function stopDelivered(turn: Turn, stop: StopDelivery): void {
  if (stop.epoch < turn.state.identity.highestEpoch) {
    turn.ignore();
    turn.say('warn', 'stop from an old epoch ignored', {
      epoch: stop.epoch,
      highestEpoch: turn.state.identity.highestEpoch,
    });
    return;
  }
  seeEpoch(turn, stop.epoch);
  const key = { runId: runId(stop.runId), stageIndex: stop.stageIndex, generation: stop.generation };
  const held = turn.stage(key);
  if (held && held.phase !== 'STOPPED') stopStage(turn, held, stop.reason);
  else report(turn, key, { $case: 'stopped', value: {} });
}

/** From now on no lower epoch is obeyed, also after a restart (I5). */
function seeEpoch(turn: Turn, epoch: bigint): void {
  if (epoch <= turn.state.identity.highestEpoch) return;
  const identity = { ...turn.state.identity, highestEpoch: epoch };
  turn.change({ identity });
  turn.perform({ kind: 'persist-identity', identity });
}
