import { randomUUID } from 'node:crypto';
import { AgentLoop } from '../../src/agent/agent-loop.js';
import type { AgentSession, AgentSessionCallbacks } from '../../src/agent/agent-session.js';
import { Alarm } from '../../src/agent/alarm.js';
import { SessionKeeper } from '../../src/agent/session-keeper.js';
import { suspendClock } from '../../src/agent/suspend-clock.js';
import type { AgentEffect } from '../../src/core/machine/agent/effects.js';
import type { AgentEvent } from '../../src/core/machine/agent/events.js';
import { type Identity, stageName } from '../../src/core/machine/agent/state.js';
import type { StageKey } from '../../src/core/machine/state.js';
import { sampleHello } from '../core/machine/samples.js';
import { SilentLogger } from '../sim/silent-logger.js';
import type { Diary } from './diary.js';
import { StandInWorker } from './stand-in-worker.js';

/** The real agent over a real connection, but for its workers, which are timers. */
export class SoakAgent {
  readonly #loop: AgentLoop;
  readonly #keeper: SessionKeeper;
  readonly #stopped = new AbortController();
  readonly #workers = new Map<string, StandInWorker>();
  readonly #alarms = {
    heartbeat: new Alarm(suspendClock, () => this.#heartbeat()),
    lease: new Alarm(suspendClock, () => this.#take({ kind: 'lease-due' })),
  };
  #session: { readonly number: number; readonly stream: AgentSession } | undefined;
  #isDead = false;
  /** Settles when it has left, or was killed. */
  readonly ended: Promise<unknown>;

  /** @param disk the identity that the next process of this agent begins with */
  constructor(
    readonly name: string,
    readonly disk: { identity: Identity },
    address: string,
    private readonly diary: Diary,
  ) {
    const logger = new SilentLogger().asLogger;
    this.#loop = new AgentLoop({
      identity: disk.identity,
      rules: { name, processId: randomUUID(), pinnedNodeId: 0n, maxStages: 64, stepMillis: 60_000 },
      now: suspendClock,
      persist: (identity) => {
        disk.identity = identity;
        return undefined;
      },
      perform: (effect) => this.#perform(effect),
      logger,
    });
    this.#keeper = new SessionKeeper({
      addresses: [address],
      host: {
        prepare: async () => {},
        callbacks: (session) => this.#callbacks(session),
        opened: (session, stream) => this.#opened(session, stream),
        ended: (session) => this.#ended(session),
      },
      logger,
    });
    this.ended = this.#keeper.run(this.#stopped.signal);
  }

  get workers(): number {
    return this.#workers.size;
  }

  /** The worker of one of its stages dies. */
  faultOne(): void {
    const [worker] = this.#workers.values();
    worker?.die();
  }

  breakStream(): void {
    this.#session?.stream.close('the network went away');
  }

  /** kill -9: its workers end with it, and nobody says goodbye. */
  kill(): void {
    this.#isDead = true;
    for (const worker of this.#workers.values()) worker.vanish();
    this.#end();
  }

  leave(): void {
    this.#take({ kind: 'leave-requested', reason: 'it was asked to' });
  }

  #end(): void {
    this.#stopped.abort();
    for (const alarm of Object.values(this.#alarms)) alarm.cancel();
    this.#session?.stream.close('the agent is gone');
  }

  #take(event: AgentEvent): void {
    if (!this.#isDead) this.#loop.take(event);
  }

  #opened(session: number, stream: AgentSession): void {
    this.#session = { number: session, stream };
    const { engines, descriptor } = sampleHello(this.name);
    this.#take({ kind: 'stream-opened', session, offer: { engines, descriptor: descriptor! } });
  }

  #ended(session: number): void {
    if (this.#session?.number === session) this.#session = undefined;
    this.#alarms.heartbeat.cancel();
    this.#take({ kind: 'stream-ended', session });
  }

  #callbacks(session: number): AgentSessionCallbacks {
    const models = (count: number) => Array.from({ length: count }, () => ({ kind: 'found', path: '/m' }) as const);
    return {
      onWelcome: (welcome) => this.#take({ kind: 'welcomed', session, welcome }),
      onProvision: (delivery) =>
        this.#take({ kind: 'provision-delivered', session, delivery, models: models(delivery.stages.length) }),
      onStop: (stop) => this.#take({ kind: 'stop-delivered', session, stop }),
      onReportAck: (reportIds) => this.#take({ kind: 'reports-acknowledged', session, reportIds }),
      onHeartbeatAck: (sequence) => this.#take({ kind: 'heartbeat-acknowledged', session, sequence }),
    };
  }

  #heartbeat(): void {
    this.#take({ kind: 'heartbeat-due', usage: [], stages: [] });
  }

  #perform(effect: AgentEffect): void {
    switch (effect.kind) {
      case 'send':
        return this.#send(effect);
      case 'close-session':
        if (this.#session?.number === effect.session) this.#session.stream.close(effect.why);
        return;
      case 'start-worker':
        return this.#start(effect.key);
      case 'command-worker':
        return this.#workers.get(stageName(effect.key))?.prepare();
      case 'stop-worker':
        return this.#workers.get(stageName(effect.key))?.stop();
      case 'kill-worker':
        return this.#workers.get(stageName(effect.key))?.die();
      case 'arm':
        return this.#alarms[effect.timer].set(effect.at);
      case 'leave':
        return this.#left();
      default:
        return;
    }
  }

  #send({ session, message }: Extract<AgentEffect, { kind: 'send' }>): void {
    const stream = this.#session?.number === session ? this.#session.stream : undefined;
    if (message.message?.$case === 'goodbye') {
      this.#stopped.abort();
      stream?.goodbye(message.message.value.reason);
    } else stream?.send(message);
  }

  /** The goodbye is to reach the other side first. */
  #left(): void {
    const last = this.#session?.stream.ended ?? Promise.resolve();
    void last.then(() => this.#end());
  }

  #start(key: StageKey): void {
    this.diary.begin(key, this.name);
    const worker = new StandInWorker(key, (event) => {
      if (event.kind === 'worker-exited') this.#workers.delete(stageName(key));
      this.#take(event);
    });
    worker.onGone = () => this.diary.end(key);
    this.#workers.set(stageName(key), worker);
  }
}
