import { status } from '@grpc/grpc-js';
import type { RunEvent } from '../../gen/stageplane/v1/run.js';
import type { NodeId, Revision, RunId } from '../core/ids.js';
import { limits } from '../core/limits.js';
import type { StageProgress } from '../core/machine/draft.js';
import { RpcError } from '../grpc/rpc-error.js';

/** What one committed turn means to a watcher of a run. */
export interface RunUpdate {
  /** All events of the run in that commit, in order (I10). */
  readonly events: readonly RunEvent[];
  readonly progress: readonly StageProgress[];
  /** Newest committed revision. */
  readonly revision: Revision;
}

type RunListener = (update: RunUpdate) => void;
type EventListener = (events: readonly RunEvent[], revision: Revision) => void;
type NodeListener = (ids: readonly NodeId[], revision: Revision) => void;

/** Tells watchers what was committed. Delivery, queues and slow readers are their streams' business. */
export class WatchHub {
  private readonly runs = new Map<RunId, Set<RunListener>>();
  private readonly events = new Set<EventListener>();
  private readonly nodes = new Set<NodeListener>();
  private watchers = 0;

  /**
   * Counts a watch from here, and not only from its subscription: many that are still being told the past would pass the
   * bound together (I16). Throws RpcError when nobody else may watch.
   *
   * @returns gives the place back
   */
  admit(): () => void {
    if (this.watchers >= limits.watchers) throw tooManyWatchers();
    this.watchers += 1;
    return () => {
      this.watchers -= 1;
    };
  }

  get watching(): number {
    return this.watchers;
  }

  /** @returns ends the listening, as the one below */
  onRun(id: RunId, listener: RunListener): () => void {
    const listeners = this.runs.get(id) ?? new Set();
    this.runs.set(id, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.runs.get(id) === listeners) this.runs.delete(id);
    };
  }

  /** The listener hears all events of one commit at once, of whatever runs (I10). */
  onEvents(listener: EventListener): () => void {
    this.events.add(listener);
    return () => this.events.delete(listener);
  }

  onNodes(listener: NodeListener): () => void {
    this.nodes.add(listener);
    return () => this.nodes.delete(listener);
  }

  publish(
    events: readonly RunEvent[],
    progress: readonly StageProgress[],
    nodes: readonly NodeId[],
    revision: Revision,
  ): void {
    if (this.runs.size > 0) this.publishRuns(events, progress, revision);
    if (events.length > 0) for (const listener of this.events) listener(events, revision);
    if (nodes.length > 0) for (const listener of this.nodes) listener(nodes, revision);
  }

  private publishRuns(events: readonly RunEvent[], progress: readonly StageProgress[], revision: Revision): void {
    const touched = new Set([...events, ...progress].map((item) => item.runId as RunId));
    for (const id of touched) {
      const listeners = this.runs.get(id);
      if (!listeners) continue;
      const update: RunUpdate = {
        events: events.filter((event) => event.runId === id),
        progress: progress.filter((item) => item.runId === id),
        revision,
      };
      for (const listener of listeners) listener(update);
    }
  }
}

function tooManyWatchers(): RpcError {
  const message = `${limits.watchers} watches are open already: close some, or try again later`;
  return new RpcError(status.RESOURCE_EXHAUSTED, 'TOO_MANY_WATCHERS', message);
}
