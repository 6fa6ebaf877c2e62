import type { LayerRange } from './layers-of-stage.js';
import type { PlanFault } from './plan-fault.js';

/** A stage's range and where it was read. */
export interface PlacedRange extends LayerRange {
  stageIndex: number;
  field: string;
}

/** Faults of ranges that are not, in stage order, non-empty, contiguous from 0 and ending at `numLayers`. */
export function* layerRangeFaults(ranges: readonly PlacedRange[], numLayers: number): Iterable<PlanFault> {
  let expected = 0;
  for (const { field, stageIndex, start, endExclusive } of ranges) {
    if (start >= endExclusive) {
      yield {
        kind: 'empty-range',
        field: `${field}.layer_end_exclusive`,
        stageIndex,
        start,
        endExclusive,
      };
    }
    if (start !== expected) {
      const kind = start > expected ? 'range-gap' : 'range-overlap';
      yield {
        kind,
        field: `${field}.layer_start`,
        stageIndex,
        start,
        expected,
      };
    }
    expected = endExclusive;
  }
  const last = ranges.at(-1);
  if (last && last.endExclusive !== numLayers) {
    const { field, stageIndex, endExclusive } = last;
    yield {
      kind: 'range-end',
      field: `${field}.layer_end_exclusive`,
      stageIndex,
      endExclusive,
      numLayers,
    };
  }
}
