/** Which edge of which run, and whose. */
export interface EdgeIdentity {
  readonly runId: bigint;
  readonly generation: number;
  readonly edgeId: bigint;
  readonly producerNodeId: bigint;
}

/** What both ends of an edge were provisioned with. */
export interface EdgeContract extends EdgeIdentity {
  /** Payload bytes of one object at most. */
  readonly maxExtent: number;
  /** Payload bytes are a multiple of this. */
  readonly alignment: number;
  /** `RingSpec.data_capacity`: bytes of headers and payloads that one end holds. A larger object passes alone (I16). */
  readonly capacity: number;
}
