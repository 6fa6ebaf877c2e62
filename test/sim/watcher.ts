import type { RunEvent } from '../../gen/stageplane/v1/run.js';
import { type Revision, type RunId, revision } from '../../src/core/ids.js';
import { isLastEvent } from '../../src/core/is-last-event.js';
import type { World } from '../../src/core/machine/state.js';
import type { WatchHub } from '../../src/orchestrator/watch-hub.js';
import type { Random } from './random.js';
import type { Simulation } from './simulation.js';

const EVENTS_PER_READ = 3;

/** Follows all runs as `watchEvents` does: replays the store, then the hub, and resumes by revision when it was cut off (I10). */
export class Watcher {
  /** Revisions of the events that it was told and that are not lost with an older copy. */
  seen: bigint[] = [];
  isOver = false;
  #last: Revision = revision(0n);
  #stop: (() => void) | undefined;
  #hub: unknown;

  constructor(
    protected readonly sim: Simulation,
    private readonly random: Random,
  ) {}

  /** The reader goes away, or the orchestrator has; it comes back after a while. */
  disconnect(): void {
    this.#stop?.();
    this.#stop = undefined;
    if (this.isOver) return;
    this.sim.time.after(this.random.skewed(10, 20_000), () => this.watch());
  }

  /** What came after the copy that is put back is in no store any more. */
  putBack(newest: Revision): void {
    const kept = this.seen.filter((at) => at <= newest);
    // Who has gone does not come back for what happens now.
    if (this.isOver) this.dismiss();
    this.seen = kept;
  }

  /** At the end: everything that the store has, each event once. */
  compare(): void {
    if (!this.isOver) this.watch();
    const seen = new Set(this.seen);
    const missed = this.due().find((event) => !seen.has(event.revision));
    if (missed) this.sim.violated('I10', `a watcher of ${this.what} saw ${this.seen.join()}, not ${missed.revision}`);
  }

  watch(): void {
    const { sim } = this;
    const { hub, world } = sim.orchestrator;
    if (this.isOver || this.#stop) return;
    if (!hub || !world) return void sim.time.after(2000, () => this.watch());
    if (this.isGone(world)) {
      this.isOver = true;
      return;
    }
    if (this.#last > world.cluster.revision)
      sim.violated('I12', `a watcher has seen revision ${this.#last}, and ${world.cluster.revision} is the newest`);
    if (this.seen.length > 0) sim.hit(`${this.kind} resumed`);
    for (;;) {
      const page = this.read(this.#last, EVENTS_PER_READ);
      if (page.length === 0) break;
      for (const event of page) this.#see(event.revision);
    }
    this.isOver = this.isEnded(world);
    this.#hub = hub;
    this.#stop = this.listen(hub);
    if (this.random.chance(0.7)) sim.time.after(this.random.int(500, 60_000), () => this.#stop && this.disconnect());
  }

  protected hear(events: readonly RunEvent[], at: Revision): void {
    if (this.#hub !== this.sim.orchestrator.hub) return;
    for (const event of events) this.#see(event.revision);
    if (this.#last > at) this.sim.violated('I10', `an update of revision ${at} brings revision ${this.#last}`);
  }

  #see(at: bigint): void {
    if (at <= this.#last) this.sim.violated('I10', `revision ${at} of ${this.what} comes after ${this.#last}`);
    this.#last = revision(at);
    this.seen.push(at);
  }

  // --- what differs for a watcher of one run

  protected readonly kind: string = 'watch of all events';

  protected get what(): string {
    return 'all runs';
  }

  protected read(after: Revision, limit: number): RunEvent[] {
    return this.sim.store.events(after, limit);
  }

  protected listen(hub: WatchHub): () => void {
    return hub.onEvents((events, at) => this.hear(events, at));
  }

  protected due(): RunEvent[] {
    return this.read(revision(0n), Number.MAX_SAFE_INTEGER);
  }

  protected isGone(_world: World): boolean {
    return false;
  }

  protected isEnded(_world: World): boolean {
    return false;
  }

  protected dismiss(): void {}
}

/** Follows one run, as `watchRun` does, until it is DONE. */
export class RunWatcher extends Watcher {
  protected override readonly kind = 'watch';
  isDismissed = false;

  constructor(
    readonly runId: RunId,
    sim: Simulation,
    random: Random,
  ) {
    super(sim, random);
  }

  override compare(): void {
    if (!this.isDismissed && this.sim.orchestrator.world?.runs.has(this.runId)) super.compare();
  }

  protected override get what(): string {
    return `run ${this.runId}`;
  }

  protected override read(after: Revision, limit: number): RunEvent[] {
    return this.sim.store.runEvents(this.runId, after, limit);
  }

  protected override listen(hub: WatchHub): () => void {
    return hub.onRun(this.runId, ({ events, revision: at }) => {
      this.hear(events, at);
      if (events.some(isLastEvent)) this.isOver = true;
    });
  }

  protected override due(): RunEvent[] {
    const stored = super.due();
    const last = stored.findIndex(isLastEvent);
    return stored.slice(0, last === -1 ? undefined : last + 1);
  }

  protected override isGone(world: World): boolean {
    return !world.runs.has(this.runId);
  }

  protected override isEnded(world: World): boolean {
    return world.runs.get(this.runId)?.phase === 'DONE';
  }

  protected override dismiss(): void {
    this.isDismissed = true;
  }
}
