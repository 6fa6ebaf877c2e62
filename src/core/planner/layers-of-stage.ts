/** Layers `[start, endExclusive)`. */
export interface LayerRange {
  start: number;
  endExclusive: number;
}

/**
 * The layers of stage `stageIndex` when `numLayers` are spread evenly over `stageCount` stages:
 * `[floor(L*i/n), floor(L*(i+1)/n))`. Every stage gets at least one when `numLayers >= stageCount`.
 *
 * All three are 32-bit unsigned, `stageIndex < stageCount`.
 */
export function layersOfStage(numLayers: number, stageCount: number, stageIndex: number): LayerRange {
  return {
    start: boundary(numLayers, stageCount, stageIndex),
    endExclusive: boundary(numLayers, stageCount, stageIndex + 1),
  };
}

/** The product reaches 2^64; from 2^53 on a double has lost the last digit, and it is taken in bigint. */
function boundary(numLayers: number, stageCount: number, stageIndex: number): number {
  const product = numLayers * stageIndex;
  if (product <= Number.MAX_SAFE_INTEGER) return (product - (product % stageCount)) / stageCount;
  return Number((BigInt(numLayers) * BigInt(stageIndex)) / BigInt(stageCount));
}
