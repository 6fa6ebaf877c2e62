import type { Gauge, Registry } from 'prom-client';
import type { Draft } from '../../core/machine/draft.js';
import { ignoredKinds } from '../../core/machine/ignored-messages.js';
import { stagePhases } from '../../core/machine/stage-transitions.js';
import type { World } from '../../core/machine/state.js';
import { addCounter, addLevel, newGauge } from './families.js';
import { NodeMetrics } from './node-metrics.js';
import { type Census, takeCensus } from './world-census.js';

/** What there is right now, looked at when somebody asks. */
export class WorldMetrics {
  private readonly runs: Gauge<string>;
  private readonly stages: Gauge<string>;
  private readonly outbox: Gauge<string>;
  private readonly nodes = new NodeMetrics();

  constructor(registry: Registry, world: World) {
    const gauge = (name: string, help: string, ...labels: string[]) => newGauge(registry, name, help, labels);
    this.runs = gauge('stageplane_runs', 'Runs by phase.', 'phase');
    this.stages = gauge('stageplane_stages', 'Stages that are not STOPPED, by phase.', 'phase');
    this.outbox = gauge(
      'stageplane_outbox_stages',
      'Stages whose node is owed a provision or a stop: unsent, or sent and unacknowledged.',
      'kind',
      'state',
    );
    const { cluster } = world;
    addLevel(registry, 'stageplane_epoch', 'Epoch of this orchestrator.', () => Number(cluster.epoch));
    addLevel(registry, 'stageplane_revision', 'Newest committed revision.', () => Number(world.cluster.revision));
    addLevel(registry, 'stageplane_sessions_connected', 'Agent sessions.', () => world.sessions.size);
    addCounter(registry, {
      name: 'stageplane_ignored_messages_total',
      help: 'Messages that changed nothing, by why.',
      labelNames: ['kind'],
      read: () => ignoredKinds.map((kind) => [{ kind: kind.replaceAll('-', '_') }, world.ignored[kind]]),
    });
  }

  /** One pass over the world: sets what the registry has, and gives the rest as text. */
  look(draft: Draft): string {
    const census = takeCensus(draft);
    this.setPhases(census);
    this.setOutbox(census);
    return this.nodes.text(draft, census);
  }

  private setPhases({ runs, stages }: Census): void {
    for (const [phase, count] of Object.entries(runs)) this.runs.set({ phase: phase.toLowerCase() }, count);
    for (const phase of stagePhases) {
      if (phase !== 'STOPPED') this.stages.set({ phase: phase.toLowerCase() }, stages[phase]);
    }
  }

  private setOutbox({ outbox }: Census): void {
    this.outbox.set({ kind: 'provision', state: 'unsent' }, outbox.provisionUnsent);
    this.outbox.set({ kind: 'provision', state: 'unacknowledged' }, outbox.provisionUnanswered);
    this.outbox.set({ kind: 'stop', state: 'unsent' }, outbox.stopUnsent);
    this.outbox.set({ kind: 'stop', state: 'unacknowledged' }, outbox.stopUnanswered);
  }
}
