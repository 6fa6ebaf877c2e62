import type { EngineOffer } from '../../../../gen/stageplane/v1/node.js';
import type { StageDelivery, StageReport } from '../../../../gen/stageplane/v1/node_agent_service.js';
import type { LoadProgress, StageFault, StageFootprint } from '../../../../gen/stageplane/v1/run.js';
import type { Millis } from '../../ids.js';
import type { StageKey } from '../state.js';
import type { HeldPhase } from './held-phases.js';

/** What an agent keeps on disk, written before it is acted on (I5). */
export interface Identity {
  /** Made once per data folder. */
  readonly instanceId: string;
  /** Empty before the first Welcome. */
  readonly clusterId: string;
  /** 0 before the first Welcome. */
  readonly nodeId: bigint;
  readonly highestEpoch: bigint;
}

/** One stage that the agent holds, of one generation. */
export interface HeldStageState {
  readonly key: StageKey;
  readonly phase: HeldPhase;
  readonly delivery: StageDelivery;
  /** The model's file on this machine. */
  readonly modelPath: string;
  /** `unstarted` while the worker of an older generation is still there; `alive` from the start until it is reaped. */
  readonly worker: 'unstarted' | 'alive' | 'reaped';
  /** The newest, while PREPARING. */
  readonly progress?: LoadProgress | undefined;
  readonly fault?: StageFault | undefined;
  readonly footprint?: StageFootprint | undefined;
}

/** A heartbeat that waits for its answer. */
export interface SentHeartbeat {
  readonly sequence: bigint;
  readonly at: Millis;
}

/** How the orchestrator is reached right now. Sessions are numbered by the shell. */
export type AgentContact =
  | { readonly kind: 'apart' }
  | { readonly kind: 'greeted'; readonly session: number; readonly helloAt: Millis }
  | {
      readonly kind: 'joined';
      readonly session: number;
      /** Milliseconds between heartbeats. */
      readonly heartbeatPeriod: number;
      /** Oldest first; at most `limits.heartbeatsUnanswered`. */
      readonly unanswered: readonly SentHeartbeat[];
      readonly nextSequence: bigint;
    };

/** How long the workers may go on unheard. */
export interface Lease {
  /** Milliseconds; 0 is for ever. */
  readonly ttl: number;
  /** When the last message that was answered had been sent: the orchestrator cannot have heard it earlier. */
  readonly since: Millis;
}

/** Everything that an agent knows. */
export interface AgentState {
  readonly identity: Identity;
  readonly contact: AgentContact;
  /** Undefined before the first Welcome of this process. */
  readonly lease: Lease | undefined;
  /** What the last Hello offered. */
  readonly engines: readonly EngineOffer[];
  /** Cores of the machine, as the last Hello gave them; 0 is unknown. */
  readonly physicalCores: number;
  /** By `stageName`; at most `rules.maxStages`. */
  readonly stages: ReadonlyMap<string, HeldStageState>;
  /** Kept until ReportAck, oldest first (I19). */
  readonly reports: ReadonlyMap<bigint, StageReport>;
  readonly nextReportId: bigint;
  /** `asked` while workers are being stopped; `left` once Goodbye has been said. */
  readonly leaving: 'no' | 'asked' | 'left';
  readonly leaveReason: string;
  /** Messages of an old session or epoch, which changed nothing (I6). */
  readonly ignoredMessages: number;
}

export function openAgent(identity: Identity): AgentState {
  return {
    identity,
    contact: { kind: 'apart' },
    lease: undefined,
    engines: [],
    physicalCores: 0,
    stages: new Map(),
    reports: new Map(),
    nextReportId: 1n,
    leaving: 'no',
    leaveReason: '',
    ignoredMessages: 0,
  };
}

/** Names one stage of one generation in maps and file names. */
export function stageName({ runId, stageIndex, generation }: StageKey): string {
  return `run-${runId}-stage-${stageIndex}-g${generation}`;
}

/** Names one stage of one generation in sentences. */
export function stageLabel({ runId, stageIndex, generation }: StageKey): string {
  return `stage ${stageIndex} of run ${runId}, generation ${generation}`;
}
