import type { ChannelCredentials } from '@grpc/grpc-js';
import type { Logger } from 'pino';
import type { EdgeFlags } from '../edge-gateway/open-node-gateway.js';
import type { WorkerLimits } from './confine-workers.js';
import type { WorkerTimings } from './worker-timings.js';

/** How an agent runs. */
export interface AgentConfig {
  /** `host:port` or `unix:/path` of the orchestrator; several are tried in turn. At least one. */
  readonly orchestrator: readonly string[];
  /** Unique label of the node, a DNS label; by default made of the machine's name. */
  readonly name?: string | undefined;
  /** The agent's own folder: identity, lock and logs. Made when it is missing. */
  readonly dataFolder: string;
  /** Folders that hold models; nothing outside them is ever loaded. */
  readonly models: readonly string[];
  /** Program and arguments of someone's own stage worker; our own when absent. */
  readonly workerCommand?: readonly string[] | undefined;
  /** Workers started ahead of need, for our own worker only; default `limits.defaultWarmWorkers`. */
  readonly warmWorkers?: number | undefined;
  /** What the system shall hold each worker to; refused where it cannot. Default: no limit but on core dumps. */
  readonly workerLimits?: WorkerLimits | undefined;
  /** Node id that an operator pins, from 2 on; by default the orchestrator gives one. */
  readonly nodeId?: bigint | undefined;
  /** Forget cluster, node id and epoch, and join as a new node. */
  readonly rejoin?: boolean | undefined;
  /** Bytes of RAM that stages may use; default: all of this machine. */
  readonly memory?: bigint | undefined;
  /** Free labels, at most 64. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Stages held at once; default and upper bound `limits.heldStagesPerNode`. */
  readonly maxStages?: number | undefined;
  /** Milliseconds that a stage may be at one micro-batch before it faults; 0 is never, default `limits.stepMillis`. */
  readonly stepDeadline?: number | undefined;
  /** How edges reach this node and leave it; without a word, the nodes of one machine find each other. */
  readonly edges?: EdgeFlags | undefined;
  /** A join token, for an agent that has no certificate yet; without either it talks in plain text. */
  readonly join?: string | undefined;
  /** `host:port` where the token is redeemed; by default two ports after that of the first orchestrator. */
  readonly enroll?: string | undefined;
  /** Instead of what the data folder has. Plain text when both have none. */
  readonly credentials?: ChannelCredentials | undefined;
  readonly workerTimings?: Partial<WorkerTimings> | undefined;
  readonly logger: Logger;
}
