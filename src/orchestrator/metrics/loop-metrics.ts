import type { Histogram, Registry } from 'prom-client';
import type { LoopMeter } from '../loop.js';
import { newDurations } from './families.js';

const SHORT_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/** How long turns take, and how long events wait for theirs. */
export class LoopMetrics implements LoopMeter {
  private readonly turns: Histogram<string>;
  private readonly waits: Histogram<string>;

  constructor(registry: Registry) {
    this.turns = newDurations(registry, {
      name: 'stageplane_loop_turn_duration_seconds',
      help: 'How long a turn of the loop took: steps, commit and effects.',
      buckets: SHORT_SECONDS,
    });
    this.waits = newDurations(registry, {
      name: 'stageplane_loop_event_wait_seconds',
      help: 'How long an event waited for its turn.',
      buckets: SHORT_SECONDS,
    });
  }

  waited(millis: number): void {
    this.waits.observe(millis / 1000);
  }

  turned(millis: number): void {
    this.turns.observe(millis / 1000);
  }
}
