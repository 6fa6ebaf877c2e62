import { status } from '@grpc/grpc-js';
import type { SubscribeRequest, SubscribeResponse } from '../../gen/stageplane/v1/node_agent_service.js';
import { type SessionId, sessionId } from '../../src/core/ids.js';
import { limits } from '../../src/core/limits.js';
import type { Draft } from '../../src/core/machine/draft.js';
import type { ClusterEvent } from '../../src/core/machine/events.js';
import type { World } from '../../src/core/machine/state.js';
import { RpcError } from '../../src/grpc/rpc-error.js';
import type { StreamWriter } from '../../src/grpc/stream-writer.js';
import type { Performer } from '../../src/orchestrator/loop.js';
import { beginEpoch, type OpenLoop, openLoop } from '../../src/orchestrator/open-loop.js';
import { sessionEvent } from '../../src/orchestrator/session-event.js';
import { StoreError } from '../../src/store/store-error.js';
import { Endpoints } from './endpoints.js';
import { Scope } from './scope.js';
import { SilentLogger } from './silent-logger.js';
import type { Simulation } from './simulation.js';
import type { Stream } from './stream.js';

interface Running {
  readonly scope: Scope;
  readonly open: OpenLoop;
  readonly endpoints: Endpoints;
  readonly sessions: Map<SessionId, Stream>;
}

/**
 * The real loop, performer, timers, sessions and hub of src/orchestrator on a virtual clock. Modelled here: gRPC (what
 * `agentService` does with a stream), and the supervisor that starts a process again which has ended.
 */
export class OrchestratorProcess {
  #running: Running | undefined;
  readonly #logger = new SilentLogger();
  #starts = 0;
  #streams = 0;
  #calls = 0;
  /** Messages that may still be sent before the process is killed in the middle of performing. */
  #sendsLeft = Number.POSITIVE_INFINITY;

  startedAt = 0;
  /** When it last went on after standing still for so long that it must notice. */
  wokeAt = 0;

  constructor(private readonly sim: Simulation) {}

  /** Undefined while it is down. */
  get world(): World | undefined {
    return this.#running?.open.loop.world;
  }

  get hub() {
    return this.#running?.open.hub;
  }

  get endpoints(): Endpoints | undefined {
    return this.#running?.endpoints;
  }

  get isPaused(): boolean {
    return this.#running?.scope.isPaused ?? false;
  }

  start(): void {
    if (this.#running) return;
    const { sim } = this;
    const random = sim.random.fork(`orchestrator ${++this.#starts}`);
    // performance.now() begins anew with every process.
    const skew = { origin: 100 - sim.time.now + random.int(0, 50), rate: 1 };
    const scope = new Scope(sim.time, skew);
    let stored: ReturnType<typeof beginEpoch>;
    try {
      stored = beginEpoch(sim.store, this.#logger.asLogger, (below) => random.int(0, below - 1));
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      sim.time.after(1000, () => this.start());
      return;
    }
    sim.trace(() => `the orchestrator starts, epoch ${stored.cluster.epoch}`);
    sim.checker.orchestratorStarts(stored);
    const endpoints = new Endpoints(sim, scope, random, (event) => this.post(event));
    const open = openLoop({
      store: sim.store,
      stored,
      timings: sim.timings,
      clock: scope,
      endpoints,
      fail: (error) => this.#fail(error),
      logger: this.#logger.asLogger,
      observe: (performer) => this.#observe(scope, performer),
    });
    this.#running = { scope, open, endpoints, sessions: new Map() };
    this.startedAt = sim.time.now;
    sim.checker.orchestratorStarted(open.loop.world);
  }

  /** kill -9, which the kernel tells the agents. It is started again after a while. */
  kill(): void {
    const running = this.#running;
    if (!running) return;
    const { sim } = this;
    sim.trace(() => 'the orchestrator is killed');
    this.#running = undefined;
    this.#sendsLeft = Number.POSITIVE_INFINITY;
    const { scope } = running;
    sim.checker.orchestratorEnds(running.open.loop.world, scope.wall() - scope.now());
    running.endpoints.die();
    for (const watcher of sim.watchers) watcher.disconnect();
    running.scope.kill();
    running.open.stop();
    for (const stream of running.sessions.values())
      stream.break({ agent: stream.wire.delay(), orchestrator: Number.MAX_SAFE_INTEGER });
    sim.time.after(sim.nemesisRandom.skewed(50, 20_000), () => this.start());
  }

  /** Its next messages still go out, then it is killed: between commit and perform, or in the middle. */
  killAfterSends(count: number): void {
    this.#sendsLeft = count;
  }

  /** The whole process stands still, as when its machine swaps or a debugger holds it. */
  stall(millis: number): void {
    const scope = this.#running?.scope;
    if (!scope) return;
    const { time } = this.sim;
    const began = time.now;
    scope.pause();
    time.after(millis, () => {
      const isLong = time.now - began > limits.loopPulseMillis + limits.loopStallMillis;
      if (isLong && scope.isPaused && this.#running?.scope === scope) this.wokeAt = time.now;
      scope.resume();
    });
  }

  wake(): void {
    this.#running?.scope.resume();
  }

  /** Of a launcher or an operator; nobody waits for the answer but the checker. */
  request(make: (call: number) => ClusterEvent): void {
    const event = make(++this.#calls);
    this.#running?.scope.run(() => this.post(event));
  }

  /** An agent dials; nobody may be there. */
  accept(stream: Stream): void {
    if (stream.wire.isBlocked('up')) {
      // The connection comes about once the wire is open, if anybody still wants it then.
      stream.wire.whenOpen('up', () => this.accept(stream));
      return;
    }
    const running = this.#running;
    if (stream.isOver) return;
    if (!running) {
      const error = new RpcError(status.UNAVAILABLE, 'UNAVAILABLE', 'nobody listens');
      return stream.closeByOrchestrator({ kind: 'failed', error });
    }
    const session = sessionId(`s${++this.#streams}-${stream.name}`);
    running.sessions.set(session, stream);
    running.open.sessions.add(session, this.#writer(session, stream));
    let goodbye = false;
    const ended = () => {
      if (!running.sessions.delete(session)) return;
      running.open.sessions.remove(session);
      if (!running.scope.isDead) running.open.loop.post({ kind: 'session-ended', session, goodbye });
    };
    stream.up.end = {
      received: (request) =>
        running.scope.run(() => {
          if (!running.sessions.has(session)) return;
          goodbye = request.message?.$case === 'goodbye';
          if (goodbye) {
            ended();
            stream.closeByOrchestrator({ kind: 'ended' });
          } else this.#take(session, request);
        }),
      ended: () => running.scope.run(ended),
    };
  }

  post(event: ClusterEvent): void {
    this.#running?.open.loop.post(event);
  }

  #take(session: SessionId, request: SubscribeRequest): void {
    this.sim.checker.messages.heard(session, request);
    const event = sessionEvent(session, request);
    if (event) this.post(event);
  }

  #writer(session: SessionId, stream: Stream): StreamWriter<SubscribeResponse> {
    const isOurs = () => this.#running?.sessions.get(session) === stream;
    const writer: Pick<StreamWriter<SubscribeResponse>, 'write' | 'fail' | 'closed'> = {
      closed: new Promise(() => {}),
      write: (message) => {
        if (!isOurs()) return false;
        if (this.#sendsLeft-- <= 0) {
          this.sim.hit('killed while performing');
          this.kill();
          return false;
        }
        this.sim.checker.messages.sent(session, message);
        stream.down.send(message);
        return true;
      },
      fail: (error) => {
        if (isOurs()) stream.closeByOrchestrator({ kind: 'failed', error });
      },
    };
    return writer as StreamWriter<SubscribeResponse>;
  }

  /** Between commit and perform the process may be gone; then nothing of the turn is heard of. */
  #observe(scope: Scope, performer: Performer): Performer {
    const { checker } = this.sim;
    return {
      perform: (turn: Draft) => {
        if (scope.isDead) return;
        checker.turnCommitted(turn);
        performer.perform(turn);
        if (!scope.isDead) checker.turnPerformed(turn);
      },
      abandon: (events: readonly ClusterEvent[], error: RpcError) => {
        if (scope.isDead) return;
        if (!(error.cause instanceof StoreError)) {
          const kinds = events.map(({ kind }) => kind).join(', ');
          const { defect } = this.#logger;
          this.sim.violated(
            'defect',
            `a turn of ${kinds} threw: ${defect instanceof Error ? defect.stack : error.message}`,
          );
        }
        this.sim.trace(() => `a turn of ${events.map(({ kind }) => kind).join(', ')} is abandoned`);
        performer.abandon(events, error);
      },
    };
  }

  /** It ends itself and begins again from what is stored (I11). */
  #fail(error: Error): void {
    this.sim.trace(() => `the orchestrator ends: ${error.message}`);
    this.kill();
  }
}
