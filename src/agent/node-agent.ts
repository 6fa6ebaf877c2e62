import { randomUUID } from 'node:crypto';
import type { ChannelCredentials } from '@grpc/grpc-js';
import type { NodeDescriptor, StageFeature } from '../../gen/stageplane/v1/node.js';
import type { StageLogRequest, Welcome } from '../../gen/stageplane/v1/node_agent_service.js';
import type { PrepareStage } from '../../gen/stageplane/v1/worker.js';
import { runId } from '../core/ids.js';
import { limits } from '../core/limits.js';
import type { AgentEffect } from '../core/machine/agent/effects.js';
import type { AgentEvent } from '../core/machine/agent/events.js';
import { type Identity, stageName } from '../core/machine/agent/state.js';
import type { StageKey } from '../core/machine/state.js';
import { orchestratorCredentials } from '../grpc/tls-credentials.js';
import { version } from '../version.js';
import type { AgentConfig } from './agent-config.js';
import { AgentLoop } from './agent-loop.js';
import type { AgentSession, AgentSessionCallbacks } from './agent-session.js';
import { Alarm } from './alarm.js';
import { CertificateRenewal } from './certificate-renewal.js';
import { DeliveryQueue } from './delivery-queue.js';
import { saveIdentity } from './identity.js';
import { describeMachine, offerEngines } from './inventory.js';
import type { NodeAccess } from './node-access.js';
import type { NodeEdges } from './node-edges.js';
import { nodeName } from './node-name.js';
import { type KeeperEnd, SessionKeeper } from './session-keeper.js';
import { StageLogs } from './stage-logs.js';
import { Supervisor } from './supervisor.js';
import { suspendClock } from './suspend-clock.js';
import { UsageMeter } from './usage-meter.js';
import type { WorkerPool } from './worker-pool.js';

export interface NodeAgentParts {
  readonly config: AgentConfig;
  readonly identity: Identity;
  /** Absent where the orchestrator asks nobody for a certificate. */
  readonly access?: NodeAccess | undefined;
  /** Where the logs of stages are kept. */
  readonly logFolder: string;
  /** Builds of the engines that the worker has said it can load, by name. */
  readonly builds: ReadonlyMap<string, string>;
  /** What the worker said that its stages can do. */
  readonly features: readonly StageFeature[];
  readonly pool: WorkerPool;
  /** Closed by the caller, when `run` has settled. */
  readonly edges: NodeEdges;
}

/** Wires the machine to the world: a session on one side, workers on the other. */
export class NodeAgent {
  readonly #loop: AgentLoop;
  readonly #supervisor: Supervisor;
  readonly #deliveries: DeliveryQueue;
  readonly #meter: UsageMeter;
  readonly #stopped = new AbortController();
  readonly #alarms = {
    heartbeat: new Alarm(suspendClock, () => this.#heartbeat()),
    lease: new Alarm(suspendClock, () => this.#loop.take({ kind: 'lease-due' })),
  };
  #session: { readonly number: number; readonly stream: AgentSession } | undefined;
  #lastSession: Promise<unknown> = Promise.resolve();
  #renewal: CertificateRenewal | undefined;
  #hasLeft!: () => void;
  readonly #left: Promise<void>;
  /** As measured for the session that is opened next. */
  #descriptor: NodeDescriptor | undefined;

  constructor(private readonly parts: NodeAgentParts) {
    const { config, identity, logFolder, pool } = parts;
    this.#meter = new UsageMeter(config.memory);
    this.#left = new Promise((resolve) => {
      this.#hasLeft = resolve;
    });
    this.#loop = new AgentLoop({
      identity,
      rules: {
        name: config.name ?? parts.access?.identity.name ?? nodeName(),
        processId: randomUUID(),
        pinnedNodeId: config.nodeId ?? 0n,
        maxStages: Math.min(config.maxStages ?? limits.heldStagesPerNode, limits.heldStagesPerNode),
        stepMillis: (config.stepDeadline ?? limits.stepMillis) || Number.POSITIVE_INFINITY,
      },
      now: suspendClock,
      persist: (newest) => saveIdentity(config.dataFolder, newest),
      perform: (effect) => this.#perform(effect),
      logger: config.logger,
    });
    this.#supervisor = new Supervisor({
      takeWorker: () => pool.take(),
      logs: new StageLogs(logFolder),
      tell: (event) => this.#hearWorker(event),
      logger: config.logger,
    });
    this.#deliveries = new DeliveryQueue(config.models, (event) => this.#loop.take(event));
  }

  get identity(): Identity {
    return this.#loop.state.identity;
  }

  /** Runs until `leave`, or until the orchestrator will never have this agent. No worker is left then. */
  async run(): Promise<KeeperEnd> {
    const { config, pool } = this.parts;
    this.#renewal = this.#keepCertificate();
    const keeper = new SessionKeeper({
      addresses: config.orchestrator,
      credentials: () => this.#credentials(),
      host: {
        prepare: () => this.#describe(),
        callbacks: (session) => this.#callbacks(session),
        opened: (session, stream) => this.#opened(session, stream),
        ended: (session) => this.#ended(session),
      },
      logger: config.logger,
    });
    const end = await keeper.run(this.#stopped.signal);
    if (end.kind === 'refused') this.leave('the orchestrator refuses this agent');
    await this.#left;
    this.#renewal?.stop();
    for (const alarm of Object.values(this.#alarms)) alarm.cancel();
    await pool.close();
    return end;
  }

  /** Stops all stages, then says Goodbye. */
  leave(reason: string): void {
    this.#loop.take({ kind: 'leave-requested', reason });
  }

  /** Stages go on while the session changes to the new one. */
  #keepCertificate(): CertificateRenewal | undefined {
    const { access, config } = this.parts;
    if (!access) return undefined;
    const renewed = () => this.#session?.stream.close('the certificate was renewed');
    return new CertificateRenewal({ access, addresses: config.orchestrator, renewed, logger: config.logger });
  }

  #credentials(): ChannelCredentials | undefined {
    const { access, config } = this.parts;
    if (!access) return config.credentials;
    const { ca, ...own } = access.credentials;
    return orchestratorCredentials(ca, own);
  }

  async #describe(): Promise<void> {
    this.#descriptor = await describeMachine(version, this.parts.config.labels ?? {}, this.parts.config.memory);
    this.#meter.describe(this.#descriptor.devices);
  }

  #opened(session: number, stream: AgentSession): void {
    this.#session = { number: session, stream };
    this.#lastSession = stream.ended;
    const descriptor = this.#descriptor;
    if (!descriptor) throw new Error('a session was opened before the machine was described');
    const offer = { engines: offerEngines(this.parts.builds, descriptor.devices, this.parts.features), descriptor };
    this.#loop.take({ kind: 'stream-opened', session, offer });
  }

  #ended(session: number): void {
    if (this.#session?.number === session) this.#session = undefined;
    this.#alarms.heartbeat.cancel();
    this.#loop.take({ kind: 'stream-ended', session });
  }

  #callbacks(session: number): AgentSessionCallbacks {
    const { logger } = this.parts.config;
    return {
      onWelcome: (welcome) => this.#welcomed(session, welcome),
      onProvision: (delivery) => this.#queued(session, this.#deliveries.provision(session, delivery)),
      onStop: (stop) => this.#queued(session, this.#deliveries.stop(session, stop)),
      onReportAck: (reportIds) => this.#loop.take({ kind: 'reports-acknowledged', session, reportIds }),
      onHeartbeatAck: (sequence) => this.#loop.take({ kind: 'heartbeat-acknowledged', session, sequence }),
      onReconciled: () => logger.info('reconciled'),
      onLogRequest: (request) => this.#answerLogRequest(session, request),
    };
  }

  #welcomed(session: number, welcome: Welcome): void {
    this.#loop.take({ kind: 'welcomed', session, welcome });
    if (this.#loop.state.contact.kind === 'joined') void this.#openEdges();
  }

  /** The neighbours of a stage may look for it before it comes here. What cannot be opened is tried again for each stage. */
  async #openEdges(): Promise<void> {
    const opened = await this.parts.edges.open(this.identity);
    if (opened.kind === 'refused') this.parts.config.logger.warn({ why: opened.message }, 'edges cannot be opened');
  }

  #hearWorker(event: AgentEvent): void {
    if (event.kind === 'worker-exited') this.parts.edges.release(event.key);
    this.#loop.take(event);
  }

  #queued(session: number, accepted: boolean): void {
    if (!accepted)
      this.#close(session, `more than ${limits.queuedPerSession} deliveries wait for their models to be found`);
  }

  #answerLogRequest(session: number, request: StageLogRequest): void {
    const key = { runId: runId(request.runId), stageIndex: request.stageIndex, generation: request.generation };
    const lines = this.#supervisor.log(key, Math.min(Math.max(request.maxLines, 1), limits.logRequestLines));
    if (this.#session?.number === session) this.#session.stream.log({ requestId: request.requestId, lines });
  }

  #heartbeat(): void {
    const { devices, residentBytes } = this.#meter.measure(this.#loop.state.stages, this.#supervisor.pids());
    this.#loop.take({ kind: 'heartbeat-due', usage: devices, stages: this.#supervisor.usage(residentBytes) });
  }

  #close(session: number, why: string): void {
    if (this.#session?.number === session) this.#session.stream.close(why);
  }

  #perform(effect: AgentEffect): void {
    switch (effect.kind) {
      case 'persist-identity':
        // Done by the loop, before anything of the turn.
        return;
      case 'send':
        return this.#send(effect);
      case 'close-session':
        this.parts.config.logger.warn({ why: effect.why }, 'session is broken off');
        return this.#close(effect.session, effect.why);
      case 'start-worker':
        return this.#supervisor.start(effect.key);
      case 'command-worker':
        return this.#command(effect);
      case 'stop-worker':
        return this.#supervisor.stop(effect.key, effect.reason);
      case 'kill-worker':
        return this.#supervisor.kill(effect.key);
      case 'arm':
        return this.#alarms[effect.timer].set(effect.at);
      case 'leave':
        return void this.#finish();
      case 'say':
        return this.parts.config.logger[effect.level](effect.fields, effect.message);
    }
  }

  #send({ session, message }: Extract<AgentEffect, { kind: 'send' }>): void {
    const stream = this.#session?.number === session ? this.#session.stream : undefined;
    if (message.message?.$case === 'goodbye') stream?.goodbye(message.message.value.reason);
    else stream?.send(message);
  }

  #command({ key, command }: Extract<AgentEffect, { kind: 'command-worker' }>): void {
    if (command.command?.$case === 'prepare') void this.#prepare(key, command.command.value);
    else this.#supervisor.command(key, command);
  }

  /** The machine knows nothing of sockets: they are this machine's own. */
  async #prepare(key: StageKey, prepare: PrepareStage): Promise<void> {
    const refuse = (message: string) => this.#loop.take({ kind: 'edges-refused', key, message });
    const connected = await this.parts.edges.connect(key, prepare, this.identity, refuse);
    if (connected.kind === 'refused') return refuse(connected.message);
    // A stop that came in the meantime was the worker's last command.
    if (connected.kind === 'released' || this.#loop.state.stages.get(stageName(key))?.phase !== 'PREPARING') return;
    this.#supervisor.command(key, { command: { $case: 'prepare', value: { ...prepare, ...connected.sockets } } });
  }

  /** Lets the Goodbye, if one was said, reach the other side. */
  async #finish(): Promise<void> {
    this.#stopped.abort();
    const open = this.#session;
    // Without a Welcome there was nobody to say it to.
    if (open && this.#loop.state.contact.kind !== 'joined') open.stream.close('the agent leaves');
    await this.#lastSession;
    this.#hasLeft();
  }
}
