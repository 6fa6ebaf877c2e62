import { U32_MAX, U64_MAX } from '../uint.js';
import { activationExtent } from './edge-specs.js';
import type { PlanFault } from './plan-fault.js';

/** What the rules about the model and the rings look at; a planner input and a plan both have it. */
export interface PlanNumbers {
  stageCount: number;
  numLayers: number;
  hiddenDim: bigint;
  dtypeWidthBytes: bigint;
  maxSeqLen: bigint;
  rings: readonly { field: string; dataCapacity: bigint; alignment: number }[];
}

export function* tooFewLayers({ numLayers, stageCount }: PlanNumbers): Iterable<PlanFault> {
  if (numLayers < stageCount)
    yield {
      kind: 'fewer-layers-than-stages',
      field: 'model.num_layers',
      numLayers,
      stageCount,
    };
}

export function* emptyObjects({ maxSeqLen, dtypeWidthBytes }: PlanNumbers): Iterable<PlanFault> {
  if (maxSeqLen === 0n) yield { kind: 'zero-size', field: 'model.max_seq_len' };
  if (dtypeWidthBytes === 0n) yield { kind: 'zero-size', field: 'model.dtype_width_bytes' };
}

export function* emptyRows({ hiddenDim }: PlanNumbers): Iterable<PlanFault> {
  if (hiddenDim === 0n) yield { kind: 'zero-hidden-dim', field: 'model.hidden_dim' };
}

export function* unusableRings({ rings }: PlanNumbers): Iterable<PlanFault> {
  for (const { field, dataCapacity, alignment } of rings) {
    if (dataCapacity === 0n) yield { kind: 'ring-without-capacity', field: `${field}.data_capacity` };
    if (!isPowerOfTwo(alignment)) yield { kind: 'ring-alignment', field: `${field}.alignment`, alignment };
  }
}

export function* rowsTooWide({ hiddenDim }: PlanNumbers): Iterable<PlanFault> {
  if (hiddenDim > U32_MAX)
    yield {
      kind: 'hidden-dim-too-large',
      field: 'model.hidden_dim',
      hiddenDim,
    };
}

export function* objectsTooLarge(numbers: PlanNumbers): Iterable<PlanFault> {
  const { dtypeWidthBytes, maxSeqLen } = numbers;
  if (dtypeWidthBytes > U32_MAX) {
    yield {
      kind: 'size-too-large',
      field: 'model.dtype_width_bytes',
      size: dtypeWidthBytes,
    };
  }
  if (maxSeqLen > U32_MAX)
    yield {
      kind: 'size-too-large',
      field: 'model.max_seq_len',
      size: maxSeqLen,
    };
  // Asked of a single stage too, though no activation edge then exists: the reference planner does.
  const extent = activationExtent(numbers);
  if (extent > U64_MAX) yield { kind: 'extent-too-large', field: 'model', extent };
}

/** For an unsigned 32-bit number: exactly one bit is set. */
function isPowerOfTwo(value: number): boolean {
  return value !== 0 && (value & (value - 1)) === 0;
}
