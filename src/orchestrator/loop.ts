import { status } from '@grpc/grpc-js';
import type { Logger } from 'pino';
import type { Millis, WallMillis } from '../core/ids.js';
import { limits } from '../core/limits.js';
import type { Changes } from '../core/machine/changes.js';
import { Draft } from '../core/machine/draft.js';
import type { Answer, Effect } from '../core/machine/effects.js';
import type { CallId, ClusterEvent } from '../core/machine/events.js';
import type { Rules } from '../core/machine/rules.js';
import type { World } from '../core/machine/state.js';
import { finishTurn, step } from '../core/machine/step.js';
import { RpcError } from '../grpc/rpc-error.js';
import { asRpcError } from '../grpc/server-status.js';
import type { AuditRecord } from '../store/audit-record.js';
import type { Store } from '../store/store.js';
import { StoreError } from '../store/store-error.js';
import { Calls } from './calls.js';
import type { Clock } from './clock.js';

/** What the loop hands to the outside once a turn is committed. */
export interface Performer {
  /** Performs the effects and tells those who watch (I4: after the commit, never before). */
  perform(turn: Draft): void;
  /** The turn did not happen: its sessions must begin again, so that reconciliation finds out what is true. */
  abandon(events: readonly ClusterEvent[], error: RpcError): void;
}

/** Remembers who asked for what. */
export interface Witness {
  /** Somebody is about to ask this. */
  asks(call: CallId, event: ClusterEvent, context: object): void;
  /** Who asked for what a turn answers. */
  testify(effects: readonly Effect[], at: WallMillis): Testimony;
}

export interface Testimony {
  readonly records: readonly AuditRecord[];
  /** They are committed. */
  confirm(): void;
}

/** Hears how long things take, in milliseconds. */
export interface LoopMeter {
  /** An event has waited for its turn. */
  waited(millis: number): void;
  turned(millis: number): void;
}

interface QueuedEvent {
  readonly event: ClusterEvent;
  readonly since: Millis;
}

/**
 * The single writer. A turn takes all that arrived, steps the pure machine, commits once and then performs: whoever
 * reads the world between turns sees committed state alone.
 */
export class Loop {
  readonly calls = new Calls();
  private queue: QueuedEvent[] = [];
  private scheduled = false;
  private stopped = false;
  private room: (() => void)[] = [];
  private commits = 0;
  /** Undefined until the first beat: starting up takes its time and is no stall. */
  private lastPulse: number | undefined;
  private callOffBeat = () => {};
  /** What comes before all else until a turn has taken it in: a failed commit must not put anything before it. */
  private owed: ClusterEvent[] = [];

  constructor(
    readonly world: World,
    private readonly store: Store,
    private readonly rules: Rules,
    private readonly clock: Clock,
    private readonly performer: Performer,
    private readonly logger: Logger,
    private readonly witness?: Witness | undefined,
    private readonly meter?: LoopMeter | undefined,
  ) {
    this.beatAgain();
  }

  /** Events that wait for their turn. */
  get waiting(): number {
    return this.queue.length;
  }

  post(event: ClusterEvent): void {
    if (this.stopped) return;
    this.queue.push({ event, since: this.clock.now() });
    this.schedule();
  }

  /** Posts what the events that are there, and those still to come, must not be believed without. */
  postFirst(event: ClusterEvent): void {
    if (!this.owed.some(({ kind }) => kind === event.kind)) this.owed.push(event);
    this.schedule();
  }

  /**
   * Posts a request and waits for its turn's commit. Rejects with RpcError.
   *
   * @param context of the call that asks, by which the witness knows who that is
   */
  async request(make: (call: CallId) => ClusterEvent, context: object): Promise<Answer> {
    if (this.stopped) throw shuttingDown();
    if (this.queue.length >= limits.queuedEvents) throw overloaded();
    const { call, answer } = this.calls.open();
    const event = make(call);
    this.witness?.asks(call, event, context);
    this.post(event);
    return answer;
  }

  /** Resolves when the loop has caught up: whoever has much to say waits here (I16). */
  hasRoom(): Promise<void> {
    if (this.queue.length < limits.queuedPerSession || this.stopped) return Promise.resolve();
    return new Promise((resolve) => this.room.push(resolve));
  }

  /** A draft over committed state that nobody will apply: for dry runs and views. */
  peek(): Draft {
    return new Draft(this.world, this.clock.now(), this.clock.wall(), this.rules);
  }

  stop(): void {
    this.stopped = true;
    this.callOffBeat();
    this.queue = [];
    this.calls.failAll(shuttingDown());
    this.wake();
  }

  private schedule(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    this.clock.soon(() => this.turn());
  }

  private turn(): void {
    this.scheduled = false;
    if (this.stopped) return;
    this.noticeStall();
    const began = this.clock.now();
    const { owed } = this;
    const waiting = this.queue.slice(0, limits.eventsPerTurn);
    const events = this.run([...owed, ...waiting.map(({ event }) => event)]);
    const taken = Math.max(events - owed.length, 0);
    this.queue = this.queue.slice(taken);
    if (this.meter) for (const { since } of waiting.slice(0, taken)) this.meter.waited(began - since);
    this.meter?.turned(this.clock.now() - began);
    if (this.queue.length > 0) this.schedule();
    if (this.queue.length < limits.queuedPerSession) this.wake();
  }

  /**
   * Runs one turn over the first of `events`, as many as there is time for, and gives how many those were. After a defect
   * each of them gets a turn of its own, so that only the guilty one is lost.
   */
  private run(events: readonly ClusterEvent[]): number {
    const draft = this.peek();
    let taken = events;
    try {
      taken = this.stepFirst(draft, events);
      finishTurn(draft);
      const changes = draft.changes();
      if (changes) this.commit(changes, draft);
    } catch (thrown) {
      // A node to which nothing can be sent must not stop all others; it is looked at again when it reconnects.
      if (!(thrown instanceof StoreError)) this.world.undispatched = [];
      if (thrown instanceof StoreError || taken.length <= 1) this.abandon(taken, thrown);
      else for (const event of taken) this.run([event]);
      return taken.length;
    }
    draft.applyTo(this.world);
    this.settleOwed(taken);
    if (draft.undispatched.length > 0) this.schedule();
    this.performer.perform(draft);
    return taken.length;
  }

  /** Steps one event at least: whoever waits gets on however slow this machine is. */
  private stepFirst(draft: Draft, events: readonly ClusterEvent[]): readonly ClusterEvent[] {
    const deadline = this.clock.now() + limits.turnStepMillis;
    let taken = 0;
    for (const event of events) {
      if (taken > 0 && this.clock.now() >= deadline) break;
      step(draft, event);
      taken += 1;
    }
    return events.slice(0, taken);
  }

  private commit(changes: Changes, { effects, wall }: Draft): void {
    const testimony = this.witness?.testify(effects, wall);
    this.store.commit(changes, testimony?.records);
    testimony?.confirm();
    this.commits += 1;
  }

  private abandon(events: readonly ClusterEvent[], thrown: unknown): void {
    const error = thrown instanceof StoreError ? storeFailed(thrown) : asRpcError(thrown, this.logger);
    if (thrown instanceof StoreError) this.logger.error({ err: thrown, events: events.length }, 'commit failed');
    for (const event of events) if ('call' in event) this.calls.fail(event.call, error);
    if (!(thrown instanceof StoreError)) this.settleOwed(events);
    if (this.owed.length > 0 || this.world.undispatched.length > 0)
      this.clock.after(limits.turnRetryMillis, () => this.schedule());
    this.performer.abandon(events, error);
  }

  private beatAgain(): void {
    this.callOffBeat = this.clock.after(limits.loopPulseMillis, () => this.beat());
  }

  private beat(): void {
    this.beatAgain();
    this.noticeStall();
    if (this.commits < limits.commitsPerCheckpoint || this.queue.length > 0) return;
    this.commits = 0;
    try {
      this.store.checkpoint();
    } catch (error) {
      // Nothing is lost: the journal only stays longer.
      this.logger.warn({ err: error }, 'checkpoint failed');
    }
  }

  private noticeStall(): void {
    const now = this.clock.now();
    const away = this.lastPulse === undefined ? 0 : now - this.lastPulse;
    this.lastPulse = now;
    if (away <= limits.loopPulseMillis + limits.loopStallMillis) return;
    this.logger.warn({ awayMillis: Math.round(away) }, 'the loop was stalled; all graces start anew');
    // A grace that ran out meanwhile must not be believed.
    this.postFirst({ kind: 'loop-stalled' });
  }

  private settleOwed(events: readonly ClusterEvent[]): void {
    if (this.owed.length > 0) this.owed = this.owed.filter((event) => !events.includes(event));
  }

  private wake(): void {
    const waiting = this.room;
    this.room = [];
    for (const resolve of waiting) resolve();
  }
}

function storeFailed(error: StoreError): RpcError {
  const code = error.kind === 'disk-full' ? status.RESOURCE_EXHAUSTED : status.UNAVAILABLE;
  return new RpcError(code, 'STORE_FAILED', error.message, { cause: error });
}

function shuttingDown(): RpcError {
  return new RpcError(status.UNAVAILABLE, 'SHUTTING_DOWN', 'the orchestrator is stopping; try again in a moment');
}

function overloaded(): RpcError {
  const message = `${limits.queuedEvents} requests wait for the orchestrator; try again in a moment`;
  return new RpcError(status.RESOURCE_EXHAUSTED, 'OVERLOADED', message);
}
