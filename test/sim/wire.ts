import type { Random } from './random.js';
import type { Stream } from './stream.js';
import type { VirtualTime } from './virtual-time.js';

type Direction = 'up' | 'down';

/** The network between one machine and the orchestrator. What is blocked waits, as TCP would have it. */
export class Wire {
  readonly streams = new Set<Stream>();
  readonly #blocked = new Set<Direction>();
  #blockedSince = 0;
  #waiting: { direction: Direction; act: () => void }[] = [];

  constructor(
    private readonly time: VirtualTime,
    private readonly random: Random,
    /** Milliseconds that a message takes, mostly and at most. */
    private readonly latency: { least: number; most: number },
  ) {}

  delay(): number {
    return this.random.skewed(this.latency.least, this.latency.most);
  }

  isBlocked(direction: Direction): boolean {
    return this.#blocked.has(direction);
  }

  /** Keepalive finds out after 20 to 30 s, on each side by itself, whichever direction it is. */
  block(...directions: Direction[]): void {
    const since = ++this.#blockedSince;
    for (const direction of directions) this.#blocked.add(direction);
    const noticed = { agent: this.random.int(20_000, 30_000), orchestrator: this.random.int(20_000, 30_000) };
    const soonest = Math.min(noticed.agent, noticed.orchestrator);
    this.time.after(soonest, () => {
      if (this.#blockedSince !== since || this.#blocked.size === 0) return;
      for (const stream of [...this.streams]) {
        stream.break({ agent: noticed.agent - soonest, orchestrator: noticed.orchestrator - soonest });
      }
    });
  }

  open(): void {
    this.#blockedSince += 1;
    this.#blocked.clear();
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { act } of waiting) this.time.after(this.delay(), act);
  }

  /** @returns what calls it off */
  whenOpen(direction: Direction, act: () => void): () => void {
    const waiter = { direction, act };
    this.#waiting.push(waiter);
    return () => {
      waiter.act = () => {};
    };
  }

  /** A reset somewhere on the way; one side may take its time to see it. */
  reset(): void {
    for (const stream of [...this.streams]) {
      const late = this.random.chance(0.3) ? this.random.int(1_000, 30_000) : 0;
      const agentIsLate = this.random.chance(0.5);
      stream.break({
        agent: this.delay() + (agentIsLate ? late : 0),
        orchestrator: this.delay() + (agentIsLate ? 0 : late),
      });
    }
  }
}
