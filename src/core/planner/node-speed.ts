import { DeviceKind } from '../../../gen/stageplane/v1/node.js';
import type { StageSettings } from '../../../gen/stageplane/v1/provision.js';
import { limits } from '../limits.js';
import { type DeviceSpeed, deviceSpeed } from '../model/device-speed.js';
import type { PoolNode } from './pool-node.js';
import { deviceOf } from './stage-pricing.js';

/** Milliseconds that the link into a node delays what comes over it, as whoever set up the node declares. */
const LATENCY_LABEL = 'link-latency-ms';
/** Megabits per second of that link. */
const BANDWIDTH_LABEL = 'link-mbit';

/** How fast stages with these settings run on a node. */
export function speedOf(node: PoolNode, settings: StageSettings): DeviceSpeed {
  return deviceSpeed(deviceOf(node, settings) ?? { name: '', kind: DeviceKind.DEVICE_KIND_CPU });
}

/**
 * Seconds that a token takes into a node: what the link is declared to delay it, or what a wired one does, and what both
 * ends do with it.
 */
export function hopSeconds({ labels }: PoolNode): number {
  const declared = positiveNumber(labels[LATENCY_LABEL]) ?? limits.assumedLinkMillis;
  return (declared + limits.hopWorkMillis) / 1000;
}

/** Links that a prompt will wait for, one sentence each; a row has so many bytes. */
export function slowLinkWarnings(nodes: readonly PoolNode[], rowBytes: number): string[] {
  const rows = limits.defaultMicroBatchRows;
  return nodes.flatMap(({ name, labels }) => {
    const mbit = positiveNumber(labels[BANDWIDTH_LABEL]);
    const seconds = mbit === undefined ? 0 : (rows * rowBytes * 8) / (mbit * 1e6);
    if (seconds <= limits.slowLinkSeconds) return [];
    return [
      `node "${name}" declares a link of ${mbit} Mbit/s: ${rows} tokens of a prompt take ${seconds.toFixed(1)} s to reach it; use a faster link, or leave it out`,
    ];
  });
}

function positiveNumber(text: string | undefined): number | undefined {
  const value = Number(text);
  return text !== undefined && Number.isFinite(value) && value > 0 ? value : undefined;
}
