import type { ProvisionDelivery, StopDelivery, SubscribeResponse } from '../../gen/stageplane/v1/node_agent_service.js';
import { AgentLoop } from '../../src/agent/agent-loop.js';
import { defaultWorkerTimings } from '../../src/agent/worker-timings.js';
import { limits } from '../../src/core/limits.js';
import type { AgentEffect } from '../../src/core/machine/agent/effects.js';
import type { ModelLookup } from '../../src/core/machine/agent/events.js';
import { type AgentState, stageName } from '../../src/core/machine/agent/state.js';
import type { StageKey } from '../../src/core/machine/state.js';
import type { Machine } from './machine.js';
import { offerOf } from './offer.js';
import type { Random } from './random.js';
import { Scope } from './scope.js';
import { SessionClient } from './session-client.js';
import { SilentLogger } from './silent-logger.js';
import { Worker } from './worker.js';

/**
 * The real agent: its machine and loop from src, its session and supervisor modelled as src/agent has them. It lives
 * until it leaves, is refused for good, or is killed.
 */
export class AgentProcess {
  readonly scope: Scope;
  readonly loop: AgentLoop;
  readonly session: SessionClient;
  readonly #workers = new Map<string, Worker>();
  readonly #alarms = new Map<string, () => void>();
  readonly #random: Random;
  #lastDelivery = 0;

  constructor(private readonly machine: Machine) {
    const { sim } = machine;
    machine.processes += 1;
    this.#random = machine.random.fork(`agent ${machine.processes}`);
    this.scope = new Scope(sim.time, { origin: 0, rate: 1 }, machine.scope);
    const processId = `process-${machine.index}-${machine.processes}`;
    this.loop = new AgentLoop({
      identity: machine.disk,
      rules: { name: machine.name, processId, pinnedNodeId: 0n, maxStages: machine.maxStages, stepMillis: 60_000 },
      now: () => machine.scope.now(),
      persist: (identity) => machine.save(identity),
      perform: (effect) => this.#perform(effect),
      logger: new SilentLogger().asLogger,
    });
    this.session = new SessionClient(machine, this.scope, this.#random, {
      opened: (session) => this.loop.take({ kind: 'stream-opened', session, offer: offerOf(machine) }),
      received: (session, message) => this.#take(session, message),
      ended: (session) => {
        this.#alarms.get('heartbeat')?.();
        this.loop.take({ kind: 'stream-ended', session });
      },
      refused: () => this.loop.take({ kind: 'leave-requested', reason: 'the orchestrator refuses this agent' }),
    });
    this.#endLeftovers();
  }

  get state(): AgentState {
    return this.loop.state;
  }

  get workers(): Iterable<Worker> {
    return this.#workers.values();
  }

  /** What an earlier agent left behind is ended before anybody is greeted, as WorkerRegister has it. */
  #endLeftovers(): void {
    const left = [...this.machine.workers].filter(({ isOrphan }) => isOrphan);
    if (left.length === 0) return this.session.start();
    for (const worker of left) worker.kill();
    this.scope.after(50, () => this.#endLeftovers());
  }

  leave(): void {
    this.scope.run(() => this.loop.take({ kind: 'leave-requested', reason: 'it was asked to' }));
  }

  /** kill -9. Its sockets are closed by the kernel, and so is every worker's stdin. */
  kill(): void {
    this.scope.kill();
    this.session.abandon();
    for (const worker of this.#workers.values()) if (worker.isAlive) worker.orphan();
    if (this.machine.agent === this) this.machine.agent = undefined;
  }

  #take(session: number, { message }: SubscribeResponse): void {
    switch (message?.$case) {
      case 'welcome':
        return this.loop.take({ kind: 'welcomed', session, welcome: message.value });
      case 'provision':
        return this.#deliver(this.#random.skewed(1, 800), () => this.#provisioned(session, message.value));
      case 'stop':
        return this.#deliver(0, () => this.#stopped(session, message.value));
      case 'reportAck':
        return this.loop.take({ kind: 'reports-acknowledged', session, reportIds: message.value.reportIds });
      case 'heartbeatAck':
        return this.loop.take({ kind: 'heartbeat-acknowledged', session, sequence: message.value.sequence });
      case 'reconciled':
        this.machine.sim.checker.agentReconciled(this.machine);
        return;
      default:
        return;
    }
  }

  /** Deliveries keep their order: a stop waits behind a provision whose model is being looked for. */
  #deliver(millis: number, act: () => void): void {
    const { time } = this.machine.sim;
    this.#lastDelivery = Math.max(time.now + millis, this.#lastDelivery + 0.001);
    time.at(this.#lastDelivery, () => this.scope.run(act));
  }

  #provisioned(session: number, delivery: ProvisionDelivery): void {
    const missing = this.#random.chance(this.machine.sim.faults.models);
    const lookup: ModelLookup = missing
      ? { kind: 'refused', message: 'the model is not here: copy it' }
      : { kind: 'found', path: '/models/tiny.gguf' };
    const models = delivery.stages.map(() => lookup);
    this.#obey(delivery.epoch, () => this.loop.take({ kind: 'provision-delivered', session, delivery, models }));
  }

  #stopped(session: number, stop: StopDelivery): void {
    this.#obey(stop.epoch, () => this.loop.take({ kind: 'stop-delivered', session, stop }));
  }

  /** What is done for an epoch is held against the highest that this disk has seen (I5). */
  #obey(epoch: bigint, act: () => void): void {
    this.#obeying = epoch;
    act();
    this.#obeying = undefined;
  }
  #obeying: bigint | undefined;

  #perform(effect: AgentEffect): void {
    const { sim } = this.machine;
    switch (effect.kind) {
      case 'persist-identity':
        return;
      case 'say':
        if (effect.message.startsWith('lease is over')) sim.hit('lease ended');
        sim.trace(() => `${this.machine.name} says: ${effect.message}`);
        return;
      case 'send':
        return this.session.send(effect.session, effect.message);
      case 'close-session':
        sim.trace(() => `${this.machine.name}: closes its session, ${effect.why}`);
        return this.session.close(effect.session, effect.why);
      case 'start-worker':
        sim.checker.agentActs(this.machine, this.#obeying);
        return this.#start(effect.key);
      case 'command-worker':
        return this.#command(effect.key);
      case 'stop-worker':
        if (this.#obeying !== undefined) sim.checker.agentActs(this.machine, this.#obeying);
        return this.#stop(effect.key);
      case 'kill-worker':
        return this.#workers.get(stageName(effect.key))?.kill();
      case 'arm':
        return this.#arm(effect.timer, effect.at);
      case 'leave':
        return this.#left();
    }
  }

  #start(key: StageKey): void {
    const { machine } = this;
    const name = stageName(key);
    const held = this.state.stages.get(name);
    if (!held) throw new Error(`${name} is started and not held`);
    machine.sim.trace(() => `${machine.name}: starts a worker for ${name}`);
    const { provision, settings } = held.delivery;
    const tell = (act: () => void) => this.scope.run(act);
    const take = this.loop.take.bind(this.loop);
    const worker = new Worker(
      key,
      provision!.stageCount,
      settings!.reservedBytes,
      machine,
      {
        greeted: (hello) => tell(() => take({ kind: 'worker-greeted', key, hello })),
        loading: (progress) => tell(() => take({ kind: 'worker-loading', key, progress })),
        ready: (footprint) => tell(() => take({ kind: 'worker-ready', key, footprint })),
        faulted: (fault) => tell(() => take({ kind: 'worker-faulted', key, fault })),
        healthy: (busyMillis) => tell(() => take({ kind: 'worker-healthy', key, busyMillis })),
        failed: (failure, logTail) => tell(() => take({ kind: 'worker-failed', key, failure, logTail })),
        exited: (exit, logTail) =>
          tell(() => {
            this.#workers.delete(name);
            take({ kind: 'worker-exited', key, exit, logTail });
          }),
      },
      this.#random.fork(`worker ${name}`),
    );
    machine.sim.checker.workers.starts(machine, worker);
    if (this.#workers.has(name)) machine.sim.violated('I3', `${name} has a worker already on ${machine.name}`);
    this.#workers.set(name, worker);
    machine.workers.add(worker);
  }

  /** The only command of the machine is to prepare; its edges are opened first. */
  #command(key: StageKey): void {
    this.scope.after(this.#random.skewed(1, 100), () => {
      const isPreparing = () => this.state.stages.get(stageName(key))?.phase === 'PREPARING';
      if (this.#random.chance(this.machine.sim.faults.models)) {
        this.loop.take({ kind: 'edges-refused', key, message: 'its socket cannot be made' });
      } else if (isPreparing()) this.#workers.get(stageName(key))?.prepare();
    });
  }

  #stop(key: StageKey): void {
    const worker = this.#workers.get(stageName(key));
    worker?.stop();
    this.scope.after(defaultWorkerTimings.stopGrace, () => worker?.isAlive && worker.kill());
  }

  #arm(timer: 'heartbeat' | 'lease', at: number): void {
    this.#alarms.get(timer)?.();
    const { scope } = this.machine;
    const callOff = scope.after(at - scope.now(), () => this.scope.run(() => this.#ring(timer, at)));
    this.#alarms.set(timer, callOff);
  }

  #ring(timer: 'heartbeat' | 'lease', at: number): void {
    const { scope } = this.machine;
    // Clocks of different rates may fall short of it by a hair.
    if (scope.now() < at) return void scope.after(1, () => this.scope.run(() => this.#ring(timer, at)));
    if (timer === 'lease') return this.loop.take({ kind: 'lease-due' });
    const workers = [...this.#workers.values()];
    const residentBytes = workers.reduce((sum, worker) => sum + worker.residentBytes, 0n);
    this.loop.take({
      kind: 'heartbeat-due',
      usage: [{ deviceId: 'cpu', freeBytes: this.machine.freeBytes, residentBytes }],
      stages: workers.map((worker) => ({
        ...worker.key,
        usage: { heldSessions: 1, heldTokens: 3n },
        residentBytes: worker.residentBytes,
      })),
    });
  }

  #left(): void {
    this.session.stop();
    this.scope.after(limits.lastWordsMillis, () => {
      for (const worker of this.#workers.values())
        this.machine.sim.violated('I18', `${this.machine.name} left its worker of ${stageName(worker.key)} behind`);
      this.kill();
      this.machine.sim.agentEnded(this.machine);
    });
  }
}
