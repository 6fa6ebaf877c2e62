import type { Device } from '../../../gen/stageplane/v1/node.js';
import { limits } from '../limits.js';
import type { CommittedStage } from '../model/node-budget.js';
import { isThreaded } from '../planner/engine-traits.js';
import type { ThreadReservation } from '../planner/free-cores.js';
import type { PoolDevice, PoolNode } from '../planner/pool-node.js';
import type { Draft } from './draft.js';
import type { NodeState, StageState } from './state.js';

/** Every known node, by ascending id, with the reason when it takes no new stage (I14). */
export function poolOf(draft: Draft): PoolNode[] {
  const ids = [...draft.allNodeIds()].sort((a, b) => (a < b ? -1 : 1));
  return ids.map((id) => poolNode(draft, draft.node(id)!));
}

function poolNode(draft: Draft, node: NodeState): PoolNode {
  const obstacle = obstacleOf(draft, node);
  return {
    nodeId: node.nodeId,
    name: node.name,
    engines: node.engines,
    physicalCores: node.descriptor.physicalCores,
    reservedThreads: reservedThreads(draft, node),
    devices: devicesOf(draft, node),
    labels: node.descriptor.labels,
    ...(obstacle && { obstacle }),
  };
}

/** What live stages compute with on a node. Released when they are STOPPED, like everything else that they hold. */
function reservedThreads(draft: Draft, node: NodeState): ThreadReservation[] {
  return draft
    .runsOn(node.nodeId)
    .map(({ runId, stages, settings }) => ({
      runId,
      threads: stages
        .filter((stage) => isLiveOn(node, stage))
        .map(({ index }) => settings[index])
        .reduce((sum, stage) => sum + (stage && isThreaded(stage.engine) ? stage.threads : 0), 0),
    }))
    .filter(({ threads }) => threads > 0)
    .sort((a, b) => (a.runId < b.runId ? -1 : 1));
}

function devicesOf(draft: Draft, node: NodeState): PoolDevice[] {
  return measuredDevices(draft, node).map((device) => ({
    ...device,
    stages: committedStages(draft, node, device.deviceId),
  }));
}

/** A node's devices: the newest heartbeat knows better than the Hello what is free. */
export function measuredDevices(draft: Draft, { nodeId, descriptor }: NodeState): Device[] {
  const usage = new Map(draft.contact(nodeId)?.usage.map((device) => [device.deviceId, device]));
  return descriptor.devices.map((device) => ({
    ...device,
    freeBytes: usage.get(device.deviceId)?.freeBytes ?? device.freeBytes,
  }));
}

/** Live stages on the device: released when they are STOPPED, like their threads (I7). */
export function committedStages(draft: Draft, node: NodeState, deviceId: string): CommittedStage[] {
  return draft.runsOn(node.nodeId).flatMap(({ stages, settings }) =>
    stages
      .filter((stage) => isLiveOn(node, stage) && settings[stage.index]?.device === deviceId)
      .map(({ index, volatile: { residentBytes = 0n } }) => ({
        reservedBytes: settings[index]!.reservedBytes,
        residentBytes,
      })),
  );
}

/** Why a node takes no new stage, or undefined when it does (I14). */
export function obstacleOf(draft: Draft, node: NodeState): PoolNode['obstacle'] {
  const contact = draft.contact(node.nodeId);
  if (node.cordoned) {
    return {
      reason: 'cordoned',
      message: `node "${node.name}" is cordoned: lift that with \`stageplane nodes uncordon ${node.name}\``,
    };
  }
  if (contact?.lost) {
    return {
      reason: 'lost',
      message: `node "${node.name}" is lost: see whether its machine and agent are up`,
    };
  }
  if (contact?.session === undefined || contact.reconciledAt === undefined) {
    return {
      reason: 'not-connected',
      message: `node "${node.name}" is not connected: start its agent, or wait for it`,
    };
  }
  if (liveStages(draft, node) >= limits.heldStagesPerNode) {
    return {
      reason: 'full',
      message: `node "${node.name}" already holds ${limits.heldStagesPerNode} stages: stop a run there, or choose another node`,
    };
  }
  return undefined;
}

/** Stages on the node that are not STOPPED. */
export function liveStages(draft: Draft, node: NodeState): number {
  return draft.runsOn(node.nodeId).flatMap(({ stages }) => stages.filter((stage) => isLiveOn(node, stage))).length;
}

function isLiveOn({ nodeId }: NodeState, stage: StageState): boolean {
  return stage.nodeId === nodeId && stage.phase !== 'STOPPED';
}
