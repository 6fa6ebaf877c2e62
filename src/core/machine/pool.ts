import type { Device } from '../../../gen/stageplane/v1/node.js';
import type { StageSettings } from '../../../gen/stageplane/v1/provision.js';
import type { RunId } from '../ids.js';
import { limits } from '../limits.js';
import type { CommittedStage } from '../model/node-budget.js';
import { isThreaded } from '../planner/engine-traits.js';
import type { ThreadReservation } from '../planner/free-cores.js';
import type { PoolDevice, PoolNode } from '../planner/pool-node.js';
import type { Draft } from './draft.js';
import type { NodeState, StageState } from './state.js';

/** One stage that takes room on a node. */
export interface LiveStage {
  readonly runId: RunId;
  readonly stage: StageState;
  readonly settings: StageSettings | undefined;
}

/**
 * Every known node, by ascending id, with the reason when it takes no new stage (I14).
 *
 * @param except a run that is to go elsewhere: what it holds now is free by then
 */
export function poolOf(draft: Draft, except?: RunId): PoolNode[] {
  const ids = [...draft.allNodeIds()].sort((a, b) => (a < b ? -1 : 1));
  return ids.map((id) => poolNode(draft, draft.node(id)!, except));
}

function poolNode(draft: Draft, node: NodeState, except: RunId | undefined): PoolNode {
  const all = liveStages(draft, node);
  const live = all.filter(({ runId }) => runId !== except);
  const freed = all.filter(({ runId }) => runId === except);
  const obstacle = obstacleOf(draft, node, live.length);
  return {
    nodeId: node.nodeId,
    name: node.name,
    engines: node.engines,
    physicalCores: node.descriptor.physicalCores,
    reservedThreads: reservedThreads(live),
    devices: devicesOf(draft, node, live, freed),
    labels: node.descriptor.labels,
    ...(obstacle && { obstacle }),
  };
}

/** What live stages compute with on a node. Released when they are STOPPED, like everything else that they hold. */
function reservedThreads(live: readonly LiveStage[]): ThreadReservation[] {
  const byRun = new Map<RunId, number>();
  for (const { runId, settings } of live) {
    const threads = settings && isThreaded(settings.engine) ? settings.threads : 0;
    if (threads > 0) byRun.set(runId, (byRun.get(runId) ?? 0) + threads);
  }
  return [...byRun].map(([runId, threads]) => ({ runId, threads })).sort((a, b) => (a.runId < b.runId ? -1 : 1));
}

/** @param freed stages whose memory will be free by then */
function devicesOf(
  draft: Draft,
  node: NodeState,
  live: readonly LiveStage[],
  freed: readonly LiveStage[],
): PoolDevice[] {
  return measuredDevices(draft, node).map((device) => {
    const regained = committedOn(device.deviceId, freed).reduce((sum, { residentBytes }) => sum + residentBytes, 0n);
    return {
      ...device,
      freeBytes: regained === 0n ? device.freeBytes : device.freeBytes + regained,
      stages: committedOn(device.deviceId, live),
    };
  });
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
  return committedOn(deviceId, liveStages(draft, node));
}

function committedOn(deviceId: string, live: readonly LiveStage[]): CommittedStage[] {
  return live.flatMap(({ stage, settings }) => {
    if (settings?.device !== deviceId) return [];
    return [{ reservedBytes: settings.reservedBytes, residentBytes: stage.volatile.residentBytes ?? 0n }];
  });
}

/** Why a node takes no new stage, or undefined when it does (I14). */
export function obstacleOf(draft: Draft, node: NodeState, held = liveStages(draft, node).length): PoolNode['obstacle'] {
  const contact = draft.contact(node.nodeId);
  if (node.drainUntil !== undefined) {
    return {
      reason: 'draining',
      message: `node "${node.name}" is drained: end that with \`stageplane nodes uncordon ${node.name}\``,
    };
  }
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
  if (held >= limits.heldStagesPerNode) {
    return {
      reason: 'full',
      message: `node "${node.name}" already holds ${limits.heldStagesPerNode} stages: stop a run there, or choose another node`,
    };
  }
  return undefined;
}

/** Stages on the node that are not STOPPED, those of earlier generations too. */
export function liveStages(draft: Draft, { nodeId }: NodeState): LiveStage[] {
  return draft
    .runsOn(nodeId)
    .flatMap(({ runId, stages, settings, remnants }) => [
      ...stages.map((stage) => ({ runId, stage, settings: settings[stage.index] })),
      ...remnants.map((remnant) => ({ runId, ...remnant })),
    ])
    .filter(({ stage }) => stage.nodeId === nodeId && stage.phase !== 'STOPPED');
}
