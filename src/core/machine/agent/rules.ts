/** What the machine is told once. */
export interface AgentRules {
  /** Unique label for people; a DNS label. */
  readonly name: string;
  /** Random, made anew at each start of the agent. */
  readonly processId: string;
  /** Id that an operator pinned; 0 lets the orchestrator give one. */
  readonly pinnedNodeId: bigint;
  /** Stages held at once, finished ones whose report is on its way included. */
  readonly maxStages: number;
  /** Milliseconds that a step, which is one micro-batch at most, may take; infinite for no deadline. */
  readonly stepMillis: number;
}
