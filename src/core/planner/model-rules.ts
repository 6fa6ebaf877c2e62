import { U32_MAX, U64_MAX } from '../uint.js';
import { activationExtent } from './edge-specs.js';
import type { PlanFault } from './plan-fault.js';

const U32_MAX_BIGINT = BigInt(U32_MAX);

/** What the rules about the model and the rings look at; a planner input and a plan both have it. */
export interface PlanNumbers {
  stageCount: number;
  numLayers: number;
  hiddenDim: bigint;
  dtypeWidthBytes: bigint;
  maxSeqLen: bigint;
  rings: readonly { field: string; dataCapacity: bigint; alignment: number }[];
}

export function tooFewLayers({ numLayers, stageCount }: PlanNumbers): PlanFault[] {
  if (numLayers >= stageCount) return [];
  return [{ kind: 'fewer-layers-than-stages', field: 'model.num_layers', numLayers, stageCount }];
}

export function emptyObjects({ maxSeqLen, dtypeWidthBytes }: PlanNumbers): PlanFault[] {
  const faults: PlanFault[] = [];
  if (maxSeqLen === 0n) faults.push({ kind: 'zero-size', field: 'model.max_seq_len' });
  if (dtypeWidthBytes === 0n) faults.push({ kind: 'zero-size', field: 'model.dtype_width_bytes' });
  return faults;
}

export function emptyRows({ hiddenDim }: PlanNumbers): PlanFault[] {
  return hiddenDim === 0n ? [{ kind: 'zero-hidden-dim', field: 'model.hidden_dim' }] : [];
}

export function unusableRings({ rings }: PlanNumbers): PlanFault[] {
  const faults: PlanFault[] = [];
  for (const { field, dataCapacity, alignment } of rings) {
    if (dataCapacity === 0n) faults.push({ kind: 'ring-without-capacity', field: `${field}.data_capacity` });
    if (!isPowerOfTwo(alignment)) faults.push({ kind: 'ring-alignment', field: `${field}.alignment`, alignment });
  }
  return faults;
}

export function rowsTooWide({ hiddenDim }: PlanNumbers): PlanFault[] {
  return hiddenDim > U32_MAX_BIGINT ? [{ kind: 'hidden-dim-too-large', field: 'model.hidden_dim', hiddenDim }] : [];
}

export function objectsTooLarge({ maxSeqLen, hiddenDim, dtypeWidthBytes }: PlanNumbers): PlanFault[] {
  const faults: PlanFault[] = [];
  if (dtypeWidthBytes > U32_MAX_BIGINT) {
    faults.push({ kind: 'size-too-large', field: 'model.dtype_width_bytes', size: dtypeWidthBytes });
  }
  if (maxSeqLen > U32_MAX_BIGINT) faults.push({ kind: 'size-too-large', field: 'model.max_seq_len', size: maxSeqLen });
  // Asked of a single stage too, though no activation edge then exists: the reference planner does.
  const extent = activationExtent(maxSeqLen, hiddenDim, dtypeWidthBytes);
  if (extent > U64_MAX) faults.push({ kind: 'extent-too-large', field: 'model', extent });
  return faults;
}

/** For an unsigned 32-bit number: exactly one bit is set. */
function isPowerOfTwo(value: number): boolean {
  return value !== 0 && (value & (value - 1)) === 0;
}
