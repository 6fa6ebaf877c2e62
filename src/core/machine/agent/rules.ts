import { limits } from '../../limits.js';

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
}

/** The protocol that this agent speaks. */
export const AGENT_PROTOCOL = 1;

/** The protocol of the lines between agent and worker. */
export const WORKER_PROTOCOL = 1;

export const defaultMaxStages = limits.heldStagesPerNode;
