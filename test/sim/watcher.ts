import { type Revision, type RunId, revision } from '../../src/core/ids.js';
import { isLastEvent } from '../../src/core/is-last-event.js';
import type { RunUpdate } from '../../src/orchestrator/watch-hub.js';
import type { Random } from './random.js';
import type { Simulation } from './simulation.js';

/** Follows one run as `watchRun` does: replays the store, then the hub, and resumes by revision when it was cut off (I10). */
export class Watcher {
  readonly seen: bigint[] = [];
  #last: Revision = revision(0n);
  #stop: (() => void) | undefined;
  #hub: unknown;
  isOver = false;

  constructor(
    readonly runId: RunId,
    private readonly sim: Simulation,
    private readonly random: Random,
  ) {
    this.#watch();
  }

  /** The reader goes away, or the orchestrator has; it comes back after a while. */
  disconnect(): void {
    this.#stop?.();
    this.#stop = undefined;
    if (this.isOver) return;
    this.sim.time.after(this.random.skewed(10, 20_000), () => this.#watch());
  }

  /** At the end: everything that the store has of the run until it was DONE, each event once. */
  compare(): void {
    if (!this.isOver) this.#watch();
    const stored = this.sim.store.runEvents(this.runId, revision(0n), Number.MAX_SAFE_INTEGER);
    const last = stored.findIndex(isLastEvent);
    const due = stored.slice(0, last === -1 ? undefined : last + 1);
    const missed = due.find((event, index) => this.seen[index] !== event.revision);
    if (missed)
      this.sim.violated('I10', `a watcher of run ${this.runId} saw ${this.seen.join()}, not ${missed.revision}`);
  }

  #watch(): void {
    const { sim } = this;
    const { hub, world } = sim.orchestrator;
    if (this.isOver || this.#stop) return;
    if (!hub || !world) return void sim.time.after(2000, () => this.#watch());
    if (!world.runs.has(this.runId)) {
      this.isOver = true;
      return;
    }
    if (this.#last > world.cluster.revision)
      sim.violated('I12', `a watcher has seen revision ${this.#last}, and ${world.cluster.revision} is the newest`);
    if (this.seen.length > 0) sim.hit('watch resumed');
    for (;;) {
      const page = sim.store.runEvents(this.runId, this.#last, 3);
      if (page.length === 0) break;
      for (const event of page) this.#see(event.revision);
    }
    if (world.runs.get(this.runId)?.phase === 'DONE') this.isOver = true;
    this.#hub = hub;
    this.#stop = hub.onRun(this.runId, (update) => this.#hear(update));
    if (this.random.chance(0.7)) sim.time.after(this.random.int(500, 60_000), () => this.#stop && this.disconnect());
  }

  #hear({ events, revision: at }: RunUpdate): void {
    if (this.#hub !== this.sim.orchestrator.hub) return;
    for (const event of events) this.#see(event.revision);
    if (this.#last > at) this.sim.violated('I10', `an update of revision ${at} brings revision ${this.#last}`);
    if (events.some(isLastEvent)) this.isOver = true;
  }

  #see(at: bigint): void {
    if (at <= this.#last) this.sim.violated('I10', `revision ${at} of run ${this.runId} comes after ${this.#last}`);
    this.#last = revision(at);
    this.seen.push(at);
  }
}
