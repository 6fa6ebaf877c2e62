import { formatBytes } from '../format-bytes.js';
import { deficitOf, type Placement } from './placement.js';
import type { PlacementNode } from './placement-problem.js';

/** A stage that does not fit on its node. In bytes. */
export interface Shortfall {
  readonly stageIndex: number;
  readonly node: PlacementNode;
  readonly layerStart: number;
  readonly layerEndExclusive: number;
  readonly needed: number;
  readonly usable: number;
  /** `needed - usable`, above 0. */
  readonly deficit: number;
}

export function shortfallsOf({ stages }: Placement): Shortfall[] {
  return stages.flatMap((stage, stageIndex) => {
    const { node, layerStart, layerEndExclusive, bytes } = stage;
    const deficit = deficitOf(stage);
    return deficit > 0
      ? [{ stageIndex, node, layerStart, layerEndExclusive, needed: bytes, usable: node.usable, deficit }]
      : [];
  });
}

export function shortfallText(shortfall: Shortfall): string {
  const { stageIndex, node, layerStart, layerEndExclusive, needed, usable, deficit } = shortfall;
  return (
    `stage ${stageIndex}, layers [${layerStart}, ${layerEndExclusive}), needs ${formatBytes(needed)} on node ` +
    `"${node.name}", which can give ${formatBytes(Math.max(0, usable))}: ${formatBytes(deficit)} short`
  );
}
