import type { DtypeFamily } from '../../../gen/stageplane/v1/model.js';
import { LayoutRule, ObjectKind, SequencePolicy } from '../../../gen/stageplane/v1/plan.js';
import type { WholeObjectSpec } from './read-edge.js';

/** Bytes of the header `MO01` before every object on an edge. */
export const OBJECT_HEADER_BYTES = 40n;

/** Bytes of one token id, u32 little endian; also what token payloads are aligned to. */
const TOKEN_ID_BYTES = 4;

/** Every token edge of every plan has it. */
const TOKEN_IDS = Object.freeze({ rule: Object.freeze({ $case: 'tokenIds', value: Object.freeze({}) }) } as const);

/** The numbers that decide what crosses an edge, each proven to fit in 32 bits. */
export interface ObjectDimensions {
  dtypeFamily: DtypeFamily;
  dtypeWidthBytes: number;
  maxSeqLen: number;
  hiddenDim: number;
}

/** Payload bytes of the largest token object: `max_seq_len * 4`, of a 32-bit number. */
export function tokenExtent(maxSeqLen: number): bigint {
  return BigInt(maxSeqLen * TOKEN_ID_BYTES);
}

/** Payload bytes of the largest activation object: `max_seq_len * hidden_dim * dtype_width_bytes`. May pass 2^64. */
export function activationExtent(maxSeqLen: bigint, hiddenDim: bigint, dtypeWidthBytes: bigint): bigint {
  return maxSeqLen * hiddenDim * dtypeWidthBytes;
}

/** Least bytes of a token ring: the longest prompt and its header, so that a whole prompt can wait in it. */
export function tokenRingFloor(maxSeqLen: number): bigint {
  return OBJECT_HEADER_BYTES + tokenExtent(maxSeqLen);
}

/** What one object of a token edge may be. The family is the model's, though token ids are integers: the ABI says so. */
export function tokenObjectSpec(model: ObjectDimensions): WholeObjectSpec {
  return {
    kind: ObjectKind.OBJECT_KIND_TOKEN,
    maxExtent: tokenExtent(model.maxSeqLen),
    dtypeFamily: model.dtypeFamily,
    dtypeWidthBytes: TOKEN_ID_BYTES,
    shape: TOKEN_IDS,
    layout: LayoutRule.LAYOUT_RULE_CONTIGUOUS,
    alignment: TOKEN_ID_BYTES,
    sequencePolicy: SequencePolicy.SEQUENCE_POLICY_ORDERED,
  };
}

/** What one object of an activation edge may be. */
export function activationObjectSpec(model: ObjectDimensions): WholeObjectSpec {
  const { dtypeFamily, dtypeWidthBytes, maxSeqLen, hiddenDim } = model;
  return {
    kind: ObjectKind.OBJECT_KIND_ACTIVATION,
    maxExtent: activationExtent(BigInt(maxSeqLen), BigInt(hiddenDim), BigInt(dtypeWidthBytes)),
    dtypeFamily,
    dtypeWidthBytes,
    shape: { rule: { $case: 'activationRows', value: { maxSeqLen, hiddenDim } } },
    layout: LayoutRule.LAYOUT_RULE_CONTIGUOUS,
    alignment: dtypeWidthBytes,
    sequencePolicy: SequencePolicy.SEQUENCE_POLICY_ORDERED,
  };
}
