import type { LayerFacts, LayerTable, ModelInspection } from '../../../gen/stageplane/v1/model.js';

/**
 * Bytes of weights that one token makes the stage `[start, end)` read: all of its layers, of their experts only the share
 * that computes the token, and on the last stage the head. Of the embedding it reads one row, which is nothing beside that.
 */
export function readPerToken(inspection: ModelInspection, layers: LayerTable): (start: number, end: number) => number {
  const share = activeShare(inspection);
  const before = [0];
  for (const layer of layers.layers) before.push(before.at(-1)! + activeBytes(layer, share));
  const head = Number(layers.headBytes) + (layers.tied ? Number(layers.embeddingBytes) : 0);
  const numLayers = layers.layers.length;
  return (start, end) => before[end]! - before[start]! + (end === numLayers ? head : 0);
}

function activeBytes({ sizeBytes, expertBytes }: LayerFacts, share: number): number {
  return Number(sizeBytes - expertBytes) + Math.round(Number(expertBytes) * share);
}

/** Share of a layer's experts that one token reads; all of them when the file does not say. */
function activeShare({ expertCount, expertsUsed }: ModelInspection): number {
  return expertCount > 0 && expertsUsed > 0 ? Math.min(1, expertsUsed / expertCount) : 1;
}
