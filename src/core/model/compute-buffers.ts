import type { LayerAttention, ModelInspection } from '../../../gen/stageplane/v1/model.js';
import type { StageSettings } from '../../../gen/stageplane/v1/provision.js';
import { limits } from '../limits.js';
import type { EngineMemory } from './engine-memory.js';
import { cacheCells } from './kv-cache.js';

const F32_BYTES = 4;

/**
 * Bytes of a stage's compute buffers: the larger of the widest layer's attention scores and its feed-forward rows, then
 * the masks, and the rows, queries, keys and values between them. Buffers are used again from layer to layer, so the
 * number of layers does not count; the widest one of the model stands for those of each stage. Of the last stage add
 * `logitsBytes`.
 *
 * Without flash attention within 2 % of what llama.cpp reserves, see `test/worker/engine/llama/memory.test.ts`.
 */
export function computeBytes(inspection: ModelInspection, settings: StageSettings, engine: EngineMemory): number {
  const rows = settings.microBatch;
  const width = Number(inspection.facts?.hiddenDim ?? 0n);
  const cells = inspection.attention.map(({ window }) => cacheCells(window, settings, engine));
  const scores = inspection.attention.map(({ heads }, layer) => F32_BYTES * heads * cells[layer]! * rows);
  const attention = settings.flashAttention ? 0 : largest(scores);
  const feedForward = F32_BYTES * rows * feedForwardElements(inspection, width);
  // One mask for the layers with a window, one for the others.
  const maskedBy = (isWindowed: boolean) =>
    largest(cells.filter((_, layer) => inspection.attention[layer]!.window > 0 === isWindowed));
  const maskedTokens = maskedBy(true) + maskedBy(false);
  const masks = (settings.flashAttention ? F32_BYTES / 2 : F32_BYTES) * maskedTokens * rows;
  const between = F32_BYTES * rows * betweenElements(inspection.attention, width);
  return Math.max(limits.computeFloorBytes, Math.max(attention, feedForward) + masks + between);
}

/** Bytes on the last stage alone: logits, of one row per session, where they are computed and where they are read. */
export function logitsBytes({ vocabularySize }: ModelInspection, { sessions }: StageSettings): number {
  return 2 * F32_BYTES * sessions * Number(vocabularySize);
}

/** Elements of a token beside scores and feed-forward: its row thrice, queries and what they give, keys and values. */
function betweenElements(attention: readonly LayerAttention[], width: number): number {
  const projected = attention.map(
    ({ heads, headsKv, keyLength, valueLength }) => 2 * heads * keyLength + headsKv * (keyLength + valueLength),
  );
  return 3 * width + largest(projected);
}

/** Elements that a token's feed-forward part has at once: gate and up beside each other, and what comes out. */
function feedForwardElements(inspection: ModelInspection, width: number): number {
  const { feedForwardLengths, expertsUsed, expertFeedForwardLength } = inspection;
  const dense = 2 * largest(feedForwardLengths.map(Number)) + width;
  const experts = expertsUsed * (2 * Number(expertFeedForwardLength) + width);
  return Math.max(dense, experts);
}

function largest(values: readonly number[]): number {
  return values.reduce((most, value) => Math.max(most, value), 0);
}
