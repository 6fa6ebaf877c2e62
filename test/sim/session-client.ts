import { status } from '@grpc/grpc-js';
import type { SubscribeRequest, SubscribeResponse } from '../../gen/stageplane/v1/node_agent_service.js';
import { afterSession } from '../../src/agent/after-session.js';
import type { AgentSessionEnd } from '../../src/agent/agent-session.js';
import { limits } from '../../src/core/limits.js';
import { defaultTimings } from '../../src/core/machine/timings.js';
import { RpcError } from '../../src/grpc/rpc-error.js';
import type { Machine } from './machine.js';
import type { Random } from './random.js';
import type { Scope } from './scope.js';
import { Stream } from './stream.js';

export interface SessionHost {
  opened(session: number): void;
  received(session: number, message: SubscribeResponse): void;
  ended(session: number): void;
  /** Never again. */
  refused(): void;
}

/** An agent's end of its streams, one after the other, as SessionKeeper and AgentSession have it. */
export class SessionClient {
  isStopped = false;
  #session = 0;
  #stream: Stream | undefined;
  #end: ((how: AgentSessionEnd) => void) | undefined;
  #everWelcomed = false;
  #shortSessions = 0;
  #inUseSince: number | undefined;
  #heartbeatPeriod = defaultTimings.heartbeat;

  constructor(
    private readonly machine: Machine,
    private readonly scope: Scope,
    private readonly random: Random,
    private readonly host: SessionHost,
  ) {}

  get isOpen(): boolean {
    return this.#stream !== undefined;
  }

  start(): void {
    this.scope.after(this.random.skewed(1, 300), () => this.#connect());
  }

  send(session: number, message: SubscribeRequest): void {
    if (session !== this.#session || !this.#stream) return;
    this.#stream.up.send(message);
    if (message.message?.$case === 'goodbye') this.#sayGoodbye(this.#stream);
  }

  close(session: number, why: string): void {
    if (session !== this.#session) return;
    this.#stream?.closeByAgent();
    this.#end?.({ kind: 'closed', why });
  }

  /** No session any more; one that waits for its goodbye to arrive ends by itself. */
  stop(): void {
    this.isStopped = true;
    if (this.#stream && !this.#isLeaving) this.close(this.#session, 'the agent leaves');
  }
  #isLeaving = false;

  /** The process was killed. */
  abandon(): void {
    this.#stream?.closeByAgent();
    this.#stream = undefined;
  }

  #connect(): void {
    if (this.isStopped) return;
    const { machine, scope } = this;
    const session = ++this.#session;
    const name = `${machine.name}#${++machine.streams}`;
    const stream = new Stream(name, machine.sim.time, machine.wire, machine.random.fork(`stream ${machine.streams}`));
    const began = scope.now();
    this.#stream = stream;
    let isOver = false;
    const end = (how: AgentSessionEnd) => {
      if (isOver) return;
      isOver = true;
      callOff();
      this.#stream = undefined;
      this.host.ended(session);
      this.#comeBack(how, scope.now() - began);
    };
    this.#end = end;
    const callOff = scope.after(limits.welcomeMillis, () => {
      stream.closeByAgent();
      end({ kind: 'failed', error: new RpcError(status.UNAVAILABLE, 'NO_WELCOME', 'nobody answers') });
    });
    const received = (message: SubscribeResponse) => {
      callOff();
      this.#hear(session, message);
    };
    stream.down.end = {
      received: (message) => scope.run(() => !isOver && received(message)),
      ended: (how) => scope.run(() => end(how)),
    };
    machine.sim.orchestrator.accept(stream);
    this.host.opened(session);
  }

  #hear(session: number, message: SubscribeResponse): void {
    if (this.#isLeaving) return;
    if (message.message?.$case === 'welcome') {
      this.#everWelcomed = true;
      this.#heartbeatPeriod = message.message.value.heartbeatPeriodMillis;
    }
    this.host.received(session, message);
  }

  #comeBack(how: AgentSessionEnd, lasted: number): void {
    if (this.isStopped) return;
    const reason = how.kind === 'failed' ? how.error.reason : how.kind;
    this.machine.sim.trace(() => `${this.machine.name}: its session ended, ${reason}`);
    if (how.kind === 'failed') this.machine.sim.hit(`session refused ${reason}`);
    const inUse = reason === 'INSTANCE_IN_USE';
    this.#inUseSince = inUse ? (this.#inUseSince ?? this.scope.now()) : undefined;
    if (lasted >= limits.sessionBackoffMaxMillis) this.#shortSessions = 0;
    const history = {
      everWelcomed: this.#everWelcomed,
      shortSessions: this.#shortSessions++,
      inUseFor: this.#inUseSince === undefined ? 0 : this.scope.now() - this.#inUseSince,
      heartbeatPeriod: this.#heartbeatPeriod,
    };
    const next = afterSession(how, history, this.random.next());
    if (next.kind === 'retry') return void this.scope.after(next.afterMillis, () => this.#connect());
    this.isStopped = true;
    this.machine.sim.hit('agent gave up');
    this.host.refused();
  }

  #sayGoodbye(stream: Stream): void {
    this.#isLeaving = true;
    this.scope.after(limits.lastWordsMillis, () => stream.closeByAgent());
  }
}
