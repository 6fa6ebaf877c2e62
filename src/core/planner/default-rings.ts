import type { ModelFacts } from '../../../gen/stageplane/v1/model.js';
import { HostPinning, RingDirection, type RingSpec, WakeCoalescing } from '../../../gen/stageplane/v1/plan.js';
import { U64_MAX } from '../uint.js';
import { OBJECT_HEADER_BYTES } from './edge-specs.js';

/** Room for one micro-batch: `40 + micro_batch * hidden_dim * dtype_width_bytes` bytes. */
export function defaultActivationRing(facts: ModelFacts, microBatch: number): RingSpec {
  return ring(OBJECT_HEADER_BYTES + BigInt(microBatch) * facts.hiddenDim * facts.dtypeWidthBytes);
}

/** The least there is: the planner raises it to one header and the token extent. */
export function defaultTokenRing(): RingSpec {
  return ring(OBJECT_HEADER_BYTES);
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
