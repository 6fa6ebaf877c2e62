import type { ModelFacts } from '../../../gen/stageplane/v1/model.js';
import { HostPinning, RingDirection, type RingSpec, WakeCoalescing } from '../../../gen/stageplane/v1/plan.js';
import type { StageSettings } from '../../../gen/stageplane/v1/provision.js';
import { limits } from '../limits.js';
import { U64_MAX } from '../uint.js';
import { OBJECT_HEADER_BYTES, tokenExtent } from './edge-specs.js';

/**
 * Room for one micro-batch, `40 + micro_batch * hidden_dim * dtype_width_bytes` bytes, and beside it for as many rows as
 * may overtake it: a decode that found no room would wait for the whole piece.
 */
export function defaultActivationRing(facts: ModelFacts, { microBatch }: StageSettings): RingSpec {
  const rowBytes = facts.hiddenDim * facts.dtypeWidthBytes;
  const decodes = BigInt(limits.decodesBeforePrefill) * (OBJECT_HEADER_BYTES + rowBytes);
  return ring(OBJECT_HEADER_BYTES + BigInt(microBatch) * rowBytes + decodes);
}

/** Room for the whole context of every session in pieces, so that no decode waits behind prompts for want of room. */
export function defaultTokenRing({ contextLength, microBatch, sessions }: StageSettings): RingSpec {
  const pieces = BigInt(Math.ceil(contextLength / microBatch)) * OBJECT_HEADER_BYTES;
  return ring(BigInt(sessions) * (pieces + tokenExtent(contextLength)));
}

/** A launcher's ring; what it left unset takes the default. A capacity or alignment of 0 is the planner's to refuse. */
export function completeRing(asked: RingSpec | undefined, fallback: RingSpec): RingSpec {
  if (!asked) return fallback;
  return {
    ...asked,
    direction: asked.direction || fallback.direction,
    hostPinning: asked.hostPinning || fallback.hostPinning,
    wakeCoalescing: asked.wakeCoalescing || fallback.wakeCoalescing,
  };
}

function ring(capacity: bigint): RingSpec {
  return {
    // A model whose rows are that large is refused by the planner, which names the true reason.
    dataCapacity: capacity > U64_MAX ? U64_MAX : capacity,
    alignment: 64,
    direction: RingDirection.RING_DIRECTION_EGRESS,
    hostPinning: HostPinning.HOST_PINNING_PAGEABLE,
    wakeCoalescing: WakeCoalescing.WAKE_COALESCING_PENDING_BIT,
  };
}
