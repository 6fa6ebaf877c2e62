import type { Node } from '../../../gen/stageplane/v1/node.js';
import type { Estimate } from '../../../gen/stageplane/v1/planner.js';
import { type DeviceLoad, fullness, inUse } from '../../cli/format/device-load.js';
import { escapeControls } from '../../cli/format/escape.js';
import { bytesText } from '../../cli/format/estimate.js';
import { formatBytes } from '../../core/format-bytes.js';
import type { BarPart } from '../parts/bar-part.js';

/** What a placement takes of one device; every text is safe to show. */
export interface DeviceUse {
  readonly title: string;
  /** `71% of 24.0 GiB` */
  readonly full: string;
  readonly parts: readonly BarPart[];
}

export function deviceUse(load: DeviceLoad, nodes: readonly Node[]): DeviceUse {
  const { nodeId, device, stages, total } = load;
  const name = nodes.find((node) => node.nodeId === nodeId)?.name || `node ${nodeId}`;
  const full = fullness(load);
  const count = stages.length === 1 ? `stage ${stages[0]}` : `stages ${stages.join(', ')}`;
  return {
    title: escapeControls(`${name}, ${device?.deviceId ?? 'device unknown'}, ${count}`),
    full:
      full === undefined || !device
        ? `${bytesText(total)}, size of the device unknown`
        : `${Math.round(full * 100)}% of ${formatBytes(device.totalBytes)}`,
    parts: partsOf(load),
  };
}

function partsOf(load: DeviceLoad): BarPart[] {
  const { device, weights, kvCache, ends, buffers, total } = load;
  const need = total?.value ?? 0;
  const known = device && device.totalBytes > 0n ? device : undefined;
  const used = known ? inUse(known) : 0;
  // What does not fit is shown all the same: the bar is then as long as the need.
  const whole = Math.max(Number(known?.totalBytes ?? 0n), used + need, 1);
  const part = (kind: BarPart['kind'], name: string, estimate: Estimate | undefined): BarPart => ({
    kind,
    label: name,
    share: (estimate?.value ?? 0) / whole,
    figure: bytesText(estimate),
  });
  const plain = (kind: BarPart['kind'], name: string, bytes: number): BarPart => ({
    kind,
    label: name,
    share: bytes / whole,
    figure: formatBytes(bytes),
  });
  return [
    plain('other', 'in use', used),
    part('weights', 'weights', weights),
    part('kv', 'KV cache', kvCache),
    part('ends', 'embedding, head', ends),
    part('buffers', 'buffers', buffers),
    plain('free', 'free', known ? Math.max(0, whole - used - need) : 0),
  ];
}
