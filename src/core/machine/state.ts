import type { ModelInspection } from '../../../gen/stageplane/v1/model.js';
import type { EngineOffer, NodeDescriptor } from '../../../gen/stageplane/v1/node.js';
import type { DeviceUsage } from '../../../gen/stageplane/v1/node_agent_service.js';
import type { RunPlan } from '../../../gen/stageplane/v1/plan.js';
import type { PlanRequest, RunMode } from '../../../gen/stageplane/v1/planner.js';
import type { StageSettings } from '../../../gen/stageplane/v1/provision.js';
import type {
  LoadProgress,
  StageFault,
  StageFootprint,
  StageUsage,
  RunCause as WireRunCause,
} from '../../../gen/stageplane/v1/run.js';
import type { TextAnswer } from '../../../gen/stageplane/v1/token_endpoint.js';
import type { Millis, NodeId, Revision, RunId, SessionId, WallMillis } from '../ids.js';
import type { ModelCuts } from '../planner/model-cuts.js';
import type { CertificateRecord, KeyRecord, TokenRecord } from './access-records.js';
import type { IgnoredMessages } from './ignored-messages.js';
import type { RunOutcome, RunPhase } from './run-transitions.js';
import type { StagePhase } from './stage-transitions.js';

/** Names one stage of one generation. A message about another generation changes nothing (I6). */
export interface StageKey {
  readonly runId: RunId;
  readonly stageIndex: number;
  readonly generation: number;
}

/** One stage of the run's current generation. */
export interface StageState {
  readonly index: number;
  readonly nodeId: NodeId;
  readonly phase: StagePhase;
  readonly fault?: StageFault | undefined;
  readonly footprint?: StageFootprint | undefined;
  /** Kept in memory only: a restart forgets it and reconciliation finds out anew (I11). */
  readonly volatile: StageVolatile;
}

export interface StageVolatile {
  /** Session in which the provision went out; another session must send it again. */
  readonly provisionedIn?: SessionId | undefined;
  /** Session in which the stop went out. */
  readonly stoppedIn?: SessionId | undefined;
  /** When the stage last moved or made progress: its deadline runs from here. */
  readonly since?: Millis | undefined;
  readonly progress?: LoadProgress | undefined;
  /** What it holds, by the newest heartbeat since it became ready. */
  readonly usage?: StageUsage | undefined;
  /** Bytes that its worker holds on its device, by the same heartbeat. */
  readonly residentBytes?: bigint | undefined;
}

/** Why a run ended before its time. */
export interface RunCause {
  readonly fault: StageFault;
  readonly stageIndex?: number | undefined;
  readonly nodeId?: NodeId | undefined;
  readonly component: 'agent' | 'worker' | 'orchestrator' | 'token-endpoint';
  readonly revision: Revision;
  /** Once fixed it never changes; until then a more primary fault may replace it. */
  readonly fixed: boolean;
}

export interface RunState {
  readonly runId: RunId;
  readonly requestId: string;
  readonly mode: RunMode;
  readonly phase: RunPhase;
  readonly outcome?: RunOutcome | undefined;
  readonly cause?: RunCause | undefined;
  readonly generation: number;
  readonly plan: RunPlan;
  readonly planId: string;
  readonly settings: readonly StageSettings[];
  /** What the plan promised of its arithmetic: "exact", "same-kernels" or "mixed"; empty in runs of older versions. */
  readonly fidelity: string;
  readonly stages: readonly StageState[];
  readonly remnants: readonly Remnant[];
  /** Absent when the first fault is the run's end. */
  readonly restart?: RestartState | undefined;
  readonly createdAt: WallMillis;
  readonly revision: Revision;
  /** Kept in memory only, like that of a stage (I11). */
  readonly volatile: RunVolatile;
}

/**
 * A LOST stage of an earlier generation: its worker may still live on a node out of contact (I3), so what it reserved
 * stays reserved until somebody knows better (I7).
 */
export interface Remnant {
  readonly generation: number;
  readonly stage: StageState;
  readonly settings: StageSettings;
}

/** How often a run that faults begins again, and what it is planned from then. */
export interface RestartState {
  /** Attempts after the first; more than 0. */
  readonly maxAttempts: number;
  /** Milliseconds before the second attempt; doubles with each. */
  readonly backoff: number;
  /** Of `maxAttempts`, used up. A generation that only moves away from a drained node takes none. */
  readonly attempts: number;
  /** Why the generation before this one ended. */
  readonly lastCause?: WireRunCause | undefined;
  /** Why the newest attempt could not be planned; empty when it could. */
  readonly obstacle: string;
  /** Dropped with the outcome: nobody plans a run that is over. */
  readonly basis?: RestartBasis | undefined;
}

/** What the first generation was planned from: a model that changed on disk must not change a run. */
export interface RestartBasis {
  readonly request: PlanRequest;
  /** Absent when the request brought its own facts. */
  readonly inspection?: ModelInspection | undefined;
  readonly modelCuts?: ModelCuts | undefined;
}

export interface RunVolatile {
  /** The token endpoint of the current generation; absent when this process has opened none, or has closed it. */
  readonly endpoint?: 'opening' | 'ready' | undefined;
  /** Since when every stage is loaded: the deadline of edges runs from here. */
  readonly loadedSince?: Millis | undefined;
  /** When it was last tried whether the run fits beside a node that is drained. */
  readonly moveTriedAt?: Millis | undefined;
  /** It is about to move off a node that is drained: it takes no prompt, and goes once no answer is under way. */
  readonly moving?: { readonly since: Millis; readonly isQuiet: boolean } | undefined;
  /** When a run that is to begin again does. */
  readonly restartAt?: Millis | undefined;
}

/** What a ONE_SHOT run answered. Durable, but not kept in memory. */
export interface RunAnswer {
  readonly runId: RunId;
  readonly answer: TextAnswer;
}

/** A node as the store keeps it. */
export interface NodeState {
  readonly nodeId: NodeId;
  readonly name: string;
  readonly instanceId: string;
  readonly cordoned: boolean;
  /** When a drain ends the runs that are left; present until the node is uncordoned. */
  readonly drainUntil?: WallMillis | undefined;
  readonly descriptor: NodeDescriptor;
  readonly engines: readonly EngineOffer[];
  readonly createdAt: WallMillis;
  readonly revision: Revision;
}

/** How a node is reached right now. In memory only. */
export interface Contact {
  readonly session?: SessionId | undefined;
  readonly processId?: string | undefined;
  /** Set once the inventory has been compared; deadlines start anew here. */
  readonly reconciledAt?: Millis | undefined;
  /** Last message of any session, or the orchestrator's start. */
  readonly lastHeard: Millis;
  readonly lastHeardWall?: WallMillis | undefined;
  /** Set while the node is out of contact. */
  readonly graceEndsAt?: Millis | undefined;
  readonly graceExtended: boolean;
  /** Its grace is over. */
  readonly lost: boolean;
  readonly usage: readonly DeviceUsage[];
}

/** One agent session. In memory only. */
export interface SessionState {
  readonly session: SessionId;
  readonly nodeId: NodeId;
  readonly nextDeliveryId: bigint;
  /** Provisions that wait for Ack or Nack. */
  readonly unanswered: ReadonlyMap<bigint, UnansweredDelivery>;
  /** What its agent brought along of runs that do not need it: told to end, and not known to have. */
  readonly ending: readonly StageKey[];
}

export interface UnansweredDelivery {
  readonly runId: RunId;
  readonly generation: number;
  readonly stageIndices: readonly number[];
}

/** A launcher's request that had its effect (I9). */
export interface RequestRecord {
  readonly requestId: string;
  /** SHA-256 of the request without its id. */
  readonly digest: string;
  readonly runId: RunId;
}

/** What a stage held when it had loaded: one entry of the ledger, which outlives its run. */
export interface FootprintRecord {
  /** As `footprintKey` names it. */
  readonly key: string;
  /** Bytes on the stage's device; more than 0. */
  readonly deviceBytes: bigint;
  /** Of the commit that brought it: the oldest are forgotten first (I16). */
  readonly revision: Revision;
}

/** What belongs to the cluster as a whole. */
export interface ClusterState {
  readonly clusterId: string;
  readonly epoch: bigint;
  readonly revision: Revision;
  readonly nextRunId: RunId;
  readonly nextNodeId: NodeId;
  /** Whose ids go up to here may be gone: none of these is pinned again. */
  readonly goneNodeId: NodeId;
}

/** Everything the orchestrator knows. The loop owns it; the machine only reads it through a draft. */
export interface World {
  cluster: ClusterState;
  /** Milliseconds that the wall clock showed beyond the one that never goes back, when a drain was last looked at. */
  wallAhead?: number | undefined;
  readonly nodes: Map<NodeId, NodeState>;
  readonly nodeByInstance: Map<string, NodeId>;
  readonly nodeByName: Map<string, NodeId>;
  readonly runs: Map<RunId, RunState>;
  readonly requests: Map<string, RequestRecord>;
  /** By key, oldest first. */
  readonly footprints: Map<string, FootprintRecord>;
  /** By the digest of their secret. */
  readonly tokens: Map<string, TokenRecord>;
  /** By serial. */
  readonly certificates: Map<string, CertificateRecord>;
  /** By the digest of their text. */
  readonly keys: Map<string, KeyRecord>;
  readonly contacts: Map<NodeId, Contact>;
  readonly sessions: Map<SessionId, SessionState>;
  /** Runs with a stage on the node that is not STOPPED. */
  readonly placements: Map<NodeId, ReadonlySet<RunId>>;
  /** Nodes that the next turns look at first: they may be owed what one turn had no room for. */
  undispatched: readonly NodeId[];
  /** Since the start. */
  readonly ignored: IgnoredMessages;
}

/** The durable part of the world, as the store gives it back. */
export interface StoredWorld {
  readonly cluster: ClusterState;
  readonly nodes: readonly NodeState[];
  readonly runs: readonly RunState[];
  readonly requests: readonly RequestRecord[];
  readonly footprints: readonly FootprintRecord[];
  readonly tokens: readonly TokenRecord[];
  readonly certificates: readonly CertificateRecord[];
  readonly keys: readonly KeyRecord[];
}
