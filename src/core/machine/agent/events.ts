import type { EngineOffer, NodeDescriptor } from '../../../../gen/stageplane/v1/node.js';
import type {
  DeviceUsage,
  HeldStageUsage,
  ProvisionDelivery,
  StopDelivery,
  Welcome,
} from '../../../../gen/stageplane/v1/node_agent_service.js';
import type { LoadProgress, StageFault, StageFootprint } from '../../../../gen/stageplane/v1/run.js';
import type { WorkerHello } from '../../../../gen/stageplane/v1/worker.js';
import type { StageKey } from '../state.js';

/** What a Hello says of the machine, measured by the shell. */
export interface NodeOffer {
  readonly engines: readonly EngineOffer[];
  readonly descriptor: NodeDescriptor;
}

/** Where a stage's model is on this machine, or the sentence that says why it is not. */
export type ModelLookup =
  | { readonly kind: 'found'; readonly path: string }
  | { readonly kind: 'refused'; readonly message: string };

/** What the supervisor saw of a worker that broke its side of the bargain. Periods in milliseconds. */
export type WorkerFailure =
  | { readonly kind: 'start-failed'; readonly command: string; readonly why: string }
  | { readonly kind: 'hello-missing'; readonly waited: number }
  /** `problem` goes on a sentence that began with the line. */
  | { readonly kind: 'line-broken'; readonly problem: string }
  | { readonly kind: 'silent'; readonly waited: number };

/** How a process ended; code and signal are null when it never began. */
export interface WorkerExit {
  readonly code: number | null;
  /** Such as `SIGKILL`. */
  readonly signal: string | null;
  /** The supervisor has ended it: it did not stop in time, or broke its word. */
  readonly wasKilled: boolean;
  /** Bytes that the system let it have for itself; undefined when there was no such limit. */
  readonly memoryLimit?: bigint | undefined;
}

/** Everything that can happen to an agent. Validated at the edge; past tense. */
export type AgentEvent =
  | { readonly kind: 'stream-opened'; readonly session: number; readonly offer: NodeOffer }
  | { readonly kind: 'welcomed'; readonly session: number; readonly welcome: Welcome }
  | {
      readonly kind: 'provision-delivered';
      readonly session: number;
      readonly delivery: ProvisionDelivery;
      /** One per stage of the delivery, in its order. */
      readonly models: readonly ModelLookup[];
    }
  | { readonly kind: 'stop-delivered'; readonly session: number; readonly stop: StopDelivery }
  | { readonly kind: 'reports-acknowledged'; readonly session: number; readonly reportIds: readonly bigint[] }
  | { readonly kind: 'heartbeat-acknowledged'; readonly session: number; readonly sequence: bigint }
  | { readonly kind: 'stream-ended'; readonly session: number }
  | {
      readonly kind: 'heartbeat-due';
      readonly usage: readonly DeviceUsage[] /** By the workers' newest word; absent when one has not said. */;
      readonly stages: readonly HeldStageUsage[];
    }
  /** A hint to look at the clock. */
  | { readonly kind: 'lease-due' }
  | { readonly kind: 'worker-greeted'; readonly key: StageKey; readonly hello: WorkerHello }
  | { readonly kind: 'worker-loading'; readonly key: StageKey; readonly progress: LoadProgress }
  | { readonly kind: 'worker-ready'; readonly key: StageKey; readonly footprint: StageFootprint }
  /** The stage's edges cannot be opened on this node, and its worker has not heard of it. `message` is a sentence. */
  | { readonly kind: 'edges-refused'; readonly key: StageKey; readonly message: string }
  /** The worker's own word. */
  | { readonly kind: 'worker-faulted'; readonly key: StageKey; readonly fault: StageFault }
  | {
      readonly kind: 'worker-failed';
      readonly key: StageKey;
      readonly failure: WorkerFailure;
      readonly logTail: readonly string[];
    }
  | { readonly kind: 'worker-healthy'; readonly key: StageKey; readonly busyMillis: bigint }
  /** The process is reaped; nothing of it is left. */
  | {
      readonly kind: 'worker-exited';
      readonly key: StageKey;
      readonly exit: WorkerExit;
      readonly logTail: readonly string[];
    }
  | { readonly kind: 'leave-requested'; readonly reason: string };
