import { type ChannelCredentials, type ClientDuplexStream, type ServiceError, status } from '@grpc/grpc-js';
import {
  type DeviceUsage,
  type GoAway,
  type HeldStageUsage,
  Hello,
  NodeAgentServiceClient,
  type ProvisionDelivery,
  type StageLog,
  type StageLogRequest,
  StageReport,
  type StopDelivery,
  type SubscribeRequest,
  type SubscribeResponse,
  type Welcome,
} from '../../gen/stageplane/v1/node_agent_service.js';
import { LoadProgress_Phase, type StageFault } from '../../gen/stageplane/v1/run.js';
import type { DeepPartial } from '../core/deep-partial.js';
import { limits } from '../core/limits.js';
import { dial } from '../grpc/client.js';
import { sessionOptions } from '../grpc/client-options.js';
import { fromServiceError } from '../grpc/from-service-error.js';
import { RpcError } from '../grpc/rpc-error.js';

/** What the orchestrator says, one call per message, in its order. */
export interface AgentSessionCallbacks {
  /** Start these stages. Answer with `ack` or `nack`, then report each stage. */
  onProvision(delivery: ProvisionDelivery): void;
  /** End this stage. Answer with a `stopped` report, also when there is no such stage. */
  onStop(stop: StopDelivery): void;
  /** The Hello was accepted. Store cluster, node id and epoch before anything else is said. */
  onWelcome?(welcome: Welcome): void;
  /** The inventory of the Hello has been compared; what differed has been sent. */
  onReconciled?(): void;
  /** These reports need not be said again. */
  onReportAck?(reportIds: readonly bigint[]): void;
  /** The lease runs from the sending of this heartbeat. */
  onHeartbeatAck?(sequence: bigint): void;
  /** Answer with `log`. */
  onLogRequest?(request: StageLogRequest): void;
}

/** Whom to connect to, and who hears of what comes. */
export interface AgentSessionOptions {
  /** `host:port` or `unix:/path`. */
  readonly address: string;
  readonly callbacks: AgentSessionCallbacks;
  /** Plain text when absent. */
  readonly credentials?: ChannelCredentials;
}

/** How a session ended. Nothing of it is intent but our own `goodbye`: stages go on until the lease is over. */
export type AgentSessionEnd =
  /** The orchestrator closed the stream without an error. */
  | { readonly kind: 'ended' }
  /** It refused the session, or the connection broke. `error.reason` says which: `NAME_TAKEN`, `UNAVAILABLE`. */
  | { readonly kind: 'failed'; readonly error: RpcError }
  /** Come back after so many milliseconds, at most `limits.goAwayMillis`. */
  | { readonly kind: 'sent-away'; readonly retryDelayMillis: number; readonly reason: string }
  /** `close` or `goodbye` was called. */
  | { readonly kind: 'closed'; readonly why: string };

type Stream = ClientDuplexStream<SubscribeRequest, SubscribeResponse>;

/**
 * One connection of one agent to the orchestrator: `NodeAgentService.Subscribe` as methods and
 * callbacks. It connects at once, never reconnects, and does not throw: whatever goes wrong ends in `ended`.
 *
 * ```ts
 * const session = new AgentSession({ address: 'localhost:7070', callbacks: { onProvision, onStop } });
 * session.hello(hello);
 * const end = await session.ended;
 * ```
 */
export class AgentSession {
  /** Settles once, when nothing more will be said on either side; never rejects. */
  readonly ended: Promise<AgentSessionEnd>;

  readonly #client: NodeAgentServiceClient;
  readonly #stream: Stream;
  readonly #callbacks: AgentSessionCallbacks;
  readonly #impatience: NodeJS.Timeout;
  #settle!: (end: AgentSessionEnd) => void;
  /** Why we end it ourselves, once we do: the status that follows is only the echo. */
  #leaving: AgentSessionEnd | undefined;
  #over = false;

  constructor({ address, callbacks, credentials }: AgentSessionOptions) {
    this.ended = new Promise((resolve) => {
      this.#settle = resolve;
    });
    this.#callbacks = callbacks;
    this.#client = dial(address, NodeAgentServiceClient, sessionOptions, credentials);
    this.#stream = this.#client.subscribe();
    this.#stream.on('error', (error: ServiceError) => this.#finish({ kind: 'failed', error: fromServiceError(error) }));
    this.#stream.on('status', ({ code }) => {
      // Any other status is told of by the error event, with its details.
      if (code === status.OK) this.#finish({ kind: 'ended' });
    });
    this.#stream.on('data', (response: SubscribeResponse) => this.#take(response));
    this.#impatience = setTimeout(() => this.#giveUp(address), limits.welcomeMillis);
  }

  /** Must be the first message. */
  hello(hello: DeepPartial<Hello>): void {
    this.send({ message: { $case: 'hello', value: Hello.fromPartial(hello) } });
  }

  /** Takes a whole delivery: the agent holds each of its stages, and reports what becomes of it. */
  ack(deliveryId: bigint): void {
    this.send({ message: { $case: 'ack', value: { deliveryId } } });
  }

  /** Refuses a whole delivery: the agent holds none of its stages. */
  nack(deliveryId: bigint, fault: StageFault): void {
    this.send({ message: { $case: 'nack', value: { deliveryId, status: fault } } });
  }

  /** All but `loading` must be kept until `onReportAck`, and said again in the next session. */
  report(report: DeepPartial<StageReport>): void {
    this.send({ message: { $case: 'report', value: StageReport.fromPartial(report) } });
  }

  /**
   * Says that the agent lives, and what its devices and ready stages hold, in bytes. Every `Welcome.heartbeatPeriodMillis`.
   *
   * @param sequence counts from 1 per session
   */
  heartbeat(sequence: bigint, devices: readonly DeviceUsage[], stages: readonly HeldStageUsage[] = []): void {
    this.send({ message: { $case: 'heartbeat', value: { sequence, devices: [...devices], stages: [...stages] } } });
  }

  /** The lines of a stage's log that were asked for. */
  log(log: StageLog): void {
    this.send({ message: { $case: 'log', value: log } });
  }

  /** The agent leaves on purpose and has stopped its stages. Ends the session when it has been handed over. */
  goodbye(reason: string): void {
    this.send({ message: { $case: 'goodbye', value: { reason } } });
    this.#leave({ kind: 'closed', why: reason });
  }

  /** Breaks the session off. */
  close(why: string): void {
    if (this.#over) return;
    this.#leaving ??= { kind: 'closed', why };
    this.#stream.cancel();
    this.#finish(this.#leaving);
  }

  /** Sends any message; nothing once the session is over. */
  send(message: SubscribeRequest): void {
    if (this.#over || this.#leaving) return;
    // Latest wins, so what does not fit now is not worth waiting for, but for what is said last.
    if (isOutdatedSoon(message) && this.#stream.writableNeedDrain) return;
    this.#stream.write(message);
    if (this.#stream.writableLength > limits.queuedPerSession) {
      this.close(`the orchestrator reads too slowly: ${limits.queuedPerSession} messages waited for it`);
    }
  }

  #take({ message }: SubscribeResponse): void {
    clearTimeout(this.#impatience);
    if (this.#over || this.#leaving) return;
    switch (message?.$case) {
      case 'welcome':
        return this.#callbacks.onWelcome?.(message.value);
      case 'provision':
        return this.#callbacks.onProvision(message.value);
      case 'stop':
        return this.#callbacks.onStop(message.value);
      case 'reportAck':
        return this.#callbacks.onReportAck?.(message.value.reportIds);
      case 'heartbeatAck':
        return this.#callbacks.onHeartbeatAck?.(message.value.sequence);
      case 'reconciled':
        return this.#callbacks.onReconciled?.();
      case 'logRequest':
        return this.#callbacks.onLogRequest?.(message.value);
      case 'goAway':
        return this.#goAway(message.value);
      case undefined:
        // A newer orchestrator may say more than this agent understands.
        return;
    }
  }

  #goAway({ retryDelayMillis, reason }: GoAway): void {
    const bounded = Math.min(Number(retryDelayMillis), limits.goAwayMillis);
    this.#leave({ kind: 'sent-away', retryDelayMillis: bounded, reason });
  }

  /** Ends our side and gives the other one a moment, so that the last messages arrive. */
  #leave(end: AgentSessionEnd): void {
    if (this.#over || this.#leaving) return;
    this.#leaving = end;
    this.#stream.end();
    const timer = setTimeout(() => this.close('the orchestrator did not end the stream'), limits.lastWordsMillis);
    void this.ended.then(() => clearTimeout(timer));
  }

  #giveUp(address: string): void {
    const waited = `${limits.welcomeMillis / 1000} s`;
    const message = `${address} did not answer a Hello within ${waited}: check the address and the network`;
    const error = new RpcError(status.UNAVAILABLE, 'NO_WELCOME', message);
    this.#leaving ??= { kind: 'failed', error };
    this.close(message);
  }

  #finish(end: AgentSessionEnd): void {
    if (this.#over) return;
    this.#over = true;
    clearTimeout(this.#impatience);
    this.#client.close();
    this.#settle(this.#leaving ?? end);
  }
}

function isOutdatedSoon({ message }: SubscribeRequest): boolean {
  const report = message?.$case === 'report' ? message.value.report : undefined;
  return report?.$case === 'loading' && report.value.phase !== LoadProgress_Phase.PHASE_WAITING_EDGES;
}
