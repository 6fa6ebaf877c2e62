import { collectDefaultMetrics, Registry } from 'prom-client';

const LEFT_OUT = [
  // Gauges that are named as if they were counters, which Prometheus' own check complains of, and what Node no longer documents.
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
  'nodejs_active_handles',
  'nodejs_active_requests',
  // A third of what it takes to look at the process, for figures that only the engine's own developers can read.
  'nodejs_heap_space_size_total_bytes',
  'nodejs_heap_space_size_used_bytes',
  'nodejs_heap_space_size_available_bytes',
  // Of no sample at all, which is what there is right after another scrape, they are no numbers or centuries.
  'nodejs_eventloop_lag_min_seconds',
  'nodejs_eventloop_lag_mean_seconds',
  'nodejs_eventloop_lag_stddev_seconds',
];

let registry: Registry | undefined;

/**
 * Memory, processor time, garbage collection and the lag of the event loop. There is one of it because there is one
 * process: what observes it cannot be taken back.
 */
export function processMetrics(): Registry {
  if (!registry) {
    registry = new Registry();
    collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 10 });
    for (const name of LEFT_OUT) registry.removeSingleMetric(name);
  }
  return registry;
}
