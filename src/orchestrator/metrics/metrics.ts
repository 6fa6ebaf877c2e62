import { Registry } from 'prom-client';
import type { Draft } from '../../core/machine/draft.js';
import type { Store } from '../../store/store.js';
import { version } from '../../version.js';
import type { Loop, Performer } from '../loop.js';
import type { WatchHub } from '../watch-hub.js';
import { AnswerMetrics } from './answer-metrics.js';
import { CallMetrics } from './call-metrics.js';
import { DryRunMetrics } from './dry-run-metrics.js';
import { addLevel, newGauge } from './families.js';
import { LoopMetrics } from './loop-metrics.js';
import { meteredStore } from './metered-store.js';
import { processMetrics } from './process-metrics.js';
import { TurnMetrics } from './turn-metrics.js';
import { WorldMetrics } from './world-metrics.js';

/** What Prometheus is told. */
export interface Exposition {
  readonly contentType: string;
  readonly text: string;
}

/**
 * What an orchestrator says of itself in figures. What happens is counted while it happens; what there is is looked at
 * when somebody asks. No label is a run's id, a prompt or anything else of which there may be any number.
 */
export class Metrics {
  readonly registry = new Registry();
  readonly answers = new AnswerMetrics(this.registry);
  readonly calls = new CallMetrics(this.registry);
  readonly dryRuns = new DryRunMetrics(this.registry);
  readonly loop = new LoopMetrics(this.registry);
  private readonly process = processMetrics();
  private readonly turns = new TurnMetrics(this.registry, () => this.opened?.loop.world.sessions.size ?? 0);
  private opened: { readonly loop: Loop; readonly world: WorldMetrics } | undefined;

  constructor() {
    const build = newGauge(this.registry, 'stageplane_build_info', 'What runs here; always 1.', [
      'version',
      'node_version',
    ]);
    build.set({ version, node_version: process.version }, 1);
  }

  /** The same store, measured. */
  measure(store: Store): Store {
    return meteredStore(store, this.registry);
  }

  /** The same performer, whose turns are counted. */
  readonly observe = (performer: Performer): Performer => ({
    perform: (turn: Draft) => {
      this.turns.take(turn);
      performer.perform(turn);
    },
    abandon: (events, error) => performer.abandon(events, error),
  });

  /** From now on there is a world to look at. */
  open(loop: Loop, hub: WatchHub): void {
    this.opened = { loop, world: new WorldMetrics(this.registry, loop.world) };
    addLevel(this.registry, 'stageplane_watchers', 'Watches of runs and nodes that are open.', () => hub.watching);
    addLevel(this.registry, 'stageplane_loop_queued_events', 'Events that wait for their turn.', () => loop.waiting);
  }

  async render(): Promise<Exposition> {
    const nodes = this.opened?.world.look(this.opened.loop.peek()) ?? '';
    const [own, process] = await Promise.all([this.registry.metrics(), this.process.metrics()]);
    return { contentType: this.registry.contentType, text: `${own}\n${nodes}\n${process}` };
  }
}
