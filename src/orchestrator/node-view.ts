import {
  type DeviceReservation,
  type Node,
  type NodeCondition,
  type NodeDrain,
  NodeConditionType as Type,
} from '../../gen/stageplane/v1/node.js';
import type { Draft } from '../core/machine/draft.js';
import { drainingRuns } from '../core/machine/drain.js';
import { committedStages, liveStages, measuredDevices, obstacleOf } from '../core/machine/pool.js';
import type { NodeState } from '../core/machine/state.js';

/** A node as operators see it. */
export function nodeView(draft: Draft, node: NodeState): Node {
  const contact = draft.contact(node.nodeId);
  return {
    nodeId: node.nodeId,
    name: node.name,
    instanceId: node.instanceId,
    conditions: conditionsOf(draft, node),
    descriptor: { ...node.descriptor, devices: measuredDevices(draft, node) },
    engines: [...node.engines],
    liveStages: liveStages(draft, node).length,
    lastContact: contact?.lastHeardWall === undefined ? undefined : new Date(contact.lastHeardWall),
    createdAt: new Date(node.createdAt),
    revision: node.revision,
    reservations: reservationsOf(draft, node),
    drain: drainView(draft, node),
  };
}

function drainView(draft: Draft, { nodeId, drainUntil }: NodeState): NodeDrain | undefined {
  if (drainUntil === undefined) return undefined;
  return { deadline: new Date(drainUntil), runs: drainingRuns(draft, nodeId) };
}

/** The sums that a plan's budgets are made of. */
function reservationsOf(draft: Draft, node: NodeState): DeviceReservation[] {
  return node.descriptor.devices.flatMap(({ deviceId }) => {
    const stages = committedStages(draft, node, deviceId);
    const sum = (of: 'reservedBytes' | 'residentBytes') => stages.reduce((total, stage) => total + stage[of], 0n);
    return stages.length === 0
      ? []
      : [{ deviceId, reservedBytes: sum('reservedBytes'), residentBytes: sum('residentBytes') }];
  });
}

function conditionsOf(draft: Draft, node: NodeState): NodeCondition[] {
  const contact = draft.contact(node.nodeId);
  const obstacle = obstacleOf(draft, node);
  const connected = contact?.session !== undefined;
  return [
    condition(Type.NODE_CONDITION_TYPE_CONNECTED, connected),
    condition(Type.NODE_CONDITION_TYPE_RECONCILED, connected && contact?.reconciledAt !== undefined),
    condition(Type.NODE_CONDITION_TYPE_SCHEDULABLE, obstacle === undefined, obstacle?.message),
    condition(Type.NODE_CONDITION_TYPE_CORDONED, node.cordoned),
    condition(Type.NODE_CONDITION_TYPE_DRAINING, node.drainUntil !== undefined),
    condition(Type.NODE_CONDITION_TYPE_LOST, contact?.lost ?? false),
  ];
}

function condition(type: Type, met: boolean, message = ''): NodeCondition {
  return { type, met, message };
}
