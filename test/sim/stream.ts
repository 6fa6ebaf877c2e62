import type { SubscribeRequest, SubscribeResponse } from '../../gen/stageplane/v1/node_agent_service.js';
import type { AgentSessionEnd } from '../../src/agent/agent-session.js';
import type { Random } from './random.js';
import type { VirtualTime } from './virtual-time.js';
import type { Wire } from './wire.js';

/** One end of a stream. Nothing is heard after `ended`. */
export interface StreamEnd<Message> {
  received(message: Message): void;
  ended(how: AgentSessionEnd): void;
}

/** What is under way in one direction, in its order. */
class Channel<Message> {
  readonly #inFlight: { message: Message; calledOff: () => void }[] = [];
  #lastArrival = 0;
  end: StreamEnd<Message> | undefined;

  constructor(
    private readonly time: VirtualTime,
    private readonly wire: Wire,
    private readonly direction: 'up' | 'down',
  ) {}

  send(message: Message): void {
    const entry = { message, calledOff: () => {} };
    this.#inFlight.push(entry);
    this.#schedule(entry, this.wire.delay());
  }

  /** The other side learns of the end after everything that still arrives. */
  finish(how: AgentSessionEnd, delay: number): void {
    this.time.at(Math.max(this.time.now + delay, this.#lastArrival), () => {
      const end = this.end;
      this.end = undefined;
      end?.ended(how);
    });
  }

  /** The stream breaks: a suffix of what is under way is lost. */
  cut(random: Random): number {
    const kept = random.int(0, this.#inFlight.length);
    const lost = this.#inFlight.splice(kept);
    for (const { calledOff } of lost) calledOff();
    return lost.length;
  }

  #schedule(entry: { message: Message; calledOff: () => void }, delay: number): void {
    const at = Math.max(this.time.now + delay, this.#lastArrival);
    this.#lastArrival = at;
    entry.calledOff = this.time.at(at, () => this.#arrive());
  }

  /** The oldest one arrives, or waits with all behind it until the wire is open again. */
  #arrive(): void {
    const next = this.#inFlight[0];
    if (!next) return;
    if (this.wire.isBlocked(this.direction)) {
      next.calledOff = this.wire.whenOpen(this.direction, () => this.#arrive());
      return;
    }
    this.#inFlight.shift();
    this.end?.received(next.message);
  }
}

/** One Subscribe call: two directions that break together, although the two sides learn of it at different times. */
export class Stream {
  readonly up: Channel<SubscribeRequest>;
  readonly down: Channel<SubscribeResponse>;
  #over = false;

  constructor(
    readonly name: string,
    time: VirtualTime,
    readonly wire: Wire,
    private readonly random: Random,
  ) {
    this.up = new Channel(time, wire, 'up');
    this.down = new Channel(time, wire, 'down');
    wire.streams.add(this);
  }

  get isOver(): boolean {
    return this.#over;
  }

  /** Nothing more is sent. What is under way arrives in part, and each side notices when it does. */
  break(noticed: { agent: number; orchestrator: number }): void {
    if (!this.#leave()) return;
    this.up.cut(this.random);
    this.down.cut(this.random);
    this.up.finish(BROKEN, noticed.orchestrator);
    this.down.finish(BROKEN, noticed.agent);
  }

  /** The agent breaks it off: it hears nothing more from now on. */
  closeByAgent(): void {
    this.down.end = undefined;
    if (!this.#leave()) return;
    this.up.cut(this.random);
    // A reset that cannot get through is noticed by keepalive.
    this.up.finish(BROKEN, this.wire.isBlocked('up') ? this.random.int(20_000, 30_000) : this.wire.delay());
  }

  /** The orchestrator ends it: what it has said before arrives, then why. */
  closeByOrchestrator(how: AgentSessionEnd): void {
    if (!this.#leave()) return;
    this.up.finish(BROKEN, this.wire.delay());
    this.down.finish(how, this.wire.isBlocked('down') ? this.random.int(20_000, 30_000) : this.wire.delay());
  }

  #leave(): boolean {
    if (this.#over) return false;
    this.#over = true;
    this.wire.streams.delete(this);
    return true;
  }
}

const BROKEN: AgentSessionEnd = { kind: 'ended' };
