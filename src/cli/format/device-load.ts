import type { Device, Node } from '../../../gen/stageplane/v1/node.js';
import type { Estimate, MemoryBreakdown } from '../../../gen/stageplane/v1/planner.js';
import { sumEstimates } from './estimate.js';

/** What the stages of one candidate take on one device of a node. */
export interface DeviceLoad {
  readonly nodeId: bigint;
  /** Absent when the node is gone, or does not say which device it would be. */
  readonly device: Device | undefined;
  readonly stages: readonly number[];
  readonly weights: Estimate | undefined;
  /** With the state of layers that have no KV cache. */
  readonly kvCache: Estimate | undefined;
  /** Embedding and output head. */
  readonly ends: Estimate | undefined;
  /** All the rest: compute buffers, rings, overhead. */
  readonly buffers: Estimate | undefined;
  readonly total: Estimate | undefined;
}

/**
 * The devices that a candidate uses, by their first stage.
 *
 * @param deviceIdOf device of a stage; where its node has none of that name, it is on the node's only one
 */
export function deviceLoads(
  memory: readonly MemoryBreakdown[],
  nodes: readonly Node[],
  deviceIdOf: (stageIndex: number) => string,
): DeviceLoad[] {
  const placed = memory.map((stage) => {
    const device = deviceOf(nodes, stage.nodeId, deviceIdOf(stage.stageIndex));
    return { stage, device, place: `${stage.nodeId} ${device?.deviceId}` };
  });
  const places = [...new Set(placed.map(({ place }) => place))];
  return places.map((place) => {
    const here = placed.filter((other) => other.place === place);
    return loadOf(
      here.map(({ stage }) => stage),
      here[0]?.device,
    );
  });
}

/** How full a device is with the load and with what is on it already: 1 is full. Undefined when nobody knows its size. */
export function fullness({ device, total }: DeviceLoad): number | undefined {
  if (!device || device.totalBytes === 0n || !total) return undefined;
  return (inUse(device) + total.value) / Number(device.totalBytes);
}

/** Bytes of a device that are taken already, by whatever program. */
export function inUse({ totalBytes, freeBytes }: Device): number {
  return Number(totalBytes - freeBytes);
}

function loadOf(stages: readonly MemoryBreakdown[], device: Device | undefined): DeviceLoad {
  const weights = sumEstimates(stages.map((stage) => stage.weights));
  const kvCache = sumEstimates(stages.flatMap((stage) => [stage.kvCache, stage.state]));
  const ends = sumEstimates(stages.flatMap((stage) => [stage.embedding, stage.head]));
  const total = sumEstimates(stages.map((stage) => stage.total));
  return {
    nodeId: stages[0]?.nodeId ?? 0n,
    device,
    stages: stages.map(({ stageIndex }) => stageIndex),
    weights,
    kvCache,
    ends,
    buffers: total && {
      ...total,
      value: Math.max(0, total.value - bytesOf(weights) - bytesOf(kvCache) - bytesOf(ends)),
    },
    total,
  };
}

function bytesOf(estimate: Estimate | undefined): number {
  return estimate?.value ?? 0;
}

function deviceOf(nodes: readonly Node[], nodeId: bigint, deviceId: string): Device | undefined {
  const devices = nodes.find((node) => node.nodeId === nodeId)?.descriptor?.devices ?? [];
  const only = devices.length === 1 ? devices[0] : undefined;
  return devices.find((device) => device.deviceId === deviceId) ?? only;
}
