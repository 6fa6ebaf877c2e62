/** How often each interesting thing happened, over all runs. */
export class Counters {
  readonly counts = new Map<string, number>();

  hit(name: string): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
  }

  add(other: Counters): void {
    for (const [name, count] of other.counts) this.counts.set(name, (this.counts.get(name) ?? 0) + count);
  }

  get missing(): string[] {
    return interesting.filter((name) => !this.counts.has(name));
  }
}

const prefixed = (prefix: string, names: readonly string[]) => names.map((name) => `${prefix} ${name}`);

/** A suite that never gets to one of these proves nothing of it. */
// biome-ignore format: lists
export const interesting: readonly string[] = [
  ...prefixed('stage', ['PENDING', 'SENT', 'ACCEPTED', 'LOADING', 'READY', 'FAULTED', 'STOPPING', 'LOST', 'STOPPED']),
  ...prefixed('run', ['PROVISIONING', 'WAITING_READY', 'RUNNING', 'TEARING_DOWN', 'DONE', 'COMPLETED', 'FAULTED', 'STOPPED']),
  ...prefixed('cause', [
    'MODEL_NOT_FOUND', 'SETTINGS_REFUSED', 'NODE_FULL', 'WORKER_START_FAILED', 'WORKER_EXITED', 'WORKER_GONE', 'LOAD_FAILED',
    'OUT_OF_MEMORY', 'ACKNOWLEDGE_DEADLINE', 'LOAD_DEADLINE', 'EDGE_DEADLINE', 'STEP_DEADLINE', 'EDGE_CLOSED', 'EDGE_UNREACHABLE',
    'PEER_LOST', 'NODE_LOST', 'TOKEN_ENDPOINT_LOST', 'PROMPT_REFUSED', 'INTERNAL', 'NODE_DRAINED',
  ]),
  ...prefixed('answer', [
    'run', 'rejected', 'deleted', 'node', 'unknown-run', 'request-conflict', 'request-spent', 'run-not-done', 'unknown-node',
    'node-connected',
  ]),
  ...prefixed('commit', ['disk-full', 'answer-lost', 'write-lost', 'killed-after']),
  ...prefixed('session refused', ['NAME_TAKEN', 'INSTANCE_IN_USE', 'SESSION_REPLACED', 'STOP_DEADLINE', 'NO_WELCOME', 'UNAVAILABLE']),
  'clone refused INSTANCE_IN_USE', 'agent gave up', 'killed while performing', 'loop stalled', 'identity could not be written',
  'LOST then returned', 'fenced', 'mass loss extended the grace', 'stale message ignored', 'epoch stepped over',
  'report acknowledged again', 'lease ended', 'worker ignored its stop', 'watch resumed', 'watch of all events resumed', 'backup put back', 'reservation exceeded',
  'answer kept of a broken run', 'stage kept over an orchestrator restart', 'several stages on one node',
  'run began again', 'restart refused', 'remnant settled', 'drain', 'drain ended at its deadline', 'wall clock set', 'move waited for answers',
];
