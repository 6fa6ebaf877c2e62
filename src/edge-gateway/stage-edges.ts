/** Both edges of a stage, or of a token endpoint, as its node was told. */
export interface StageEdges {
  readonly runId: bigint;
  readonly generation: number;
  /** Of the stage itself: it produces its outbound edge. */
  readonly nodeId: bigint;
  readonly inbound: {
    readonly edgeId: bigint;
    readonly producerNodeId: bigint;
    /** Unix socket on which the stage listens, or will. Absolute. */
    readonly socket: string;
  };
  readonly outbound: {
    readonly edgeId: bigint;
    readonly consumerNodeId: bigint;
  };
  /** The consumer is not reached, because whoever answers there is not it; at most once. A whole sentence. */
  readonly onDistrust?: ((sentence: string) => void) | undefined;
}
