import type {
  OrchestratorServiceService,
  WatchNodesResponse,
  WatchRunResponse,
} from '../../gen/stageplane/v1/orchestrator_service.js';
import { type NodeId, type Revision, type RunId, revision, runId } from '../core/ids.js';
import { isLastEvent } from '../core/is-last-event.js';
import { limits } from '../core/limits.js';
import type { ServiceBodies } from '../grpc/add-service.js';
import type { StreamWriter } from '../grpc/stream-writer.js';
import type { Store } from '../store/store.js';
import { revisionAhead, runNotFound } from './answer-errors.js';
import { bookmark } from './bookmark.js';
import type { Loop } from './loop.js';
import { nodeView } from './node-view.js';
import { replayEvents } from './replay-events.js';
import { type RunViews, viewsFor } from './viewer-view.js';
import type { WatchHub } from './watch-hub.js';

type Bodies = ServiceBodies<typeof OrchestratorServiceService>;
type Stream = StreamWriter<WatchRunResponse>;

/** Watches: ordered, unique, atomic per commit, resumable and bookmarked (I10). */
export function watchCalls(loop: Loop, store: Store, hub: WatchHub): Pick<Bodies, 'watchRun' | 'watchNodes'> {
  return {
    async watchRun(request, stream, context) {
      const id = runId(request.runId);
      const leave = hub.admit();
      try {
        if (!loop.world.runs.has(id)) throw runNotFound(id);
        if (request.afterRevision > loop.world.cluster.revision) throw revisionAhead(request.afterRevision);
        const views = viewsFor(context);
        const read = (last: Revision, limit: number) => store.runEvents(id, last, limit);
        await replayEvents(stream, revision(request.afterRevision), read, (events) => {
          for (const event of events) stream.write({ update: { $case: 'event', value: views.event(event) } });
        });
        // Turns begin in setImmediate: between the last empty page and the subscription no commit can slip in.
        bookmark(stream, loop.world.cluster.revision);
        const run = loop.world.runs.get(id);
        if (run && run.phase !== 'DONE') await follow({ hub, stream, views }, id);
      } finally {
        leave();
      }
    },

    async watchNodes(_request, stream) {
      const leave = hub.admit();
      // What changes while the whole pool is still being sent comes after it: a bookmark must not run ahead (I10).
      let changed: Set<NodeId> | undefined = new Set();
      const stop = hub.onNodes((ids) => {
        if (changed) for (const id of ids) changed.add(id);
        else sendNodes(loop, stream, ids);
      });
      try {
        await sendEveryNode(loop, stream);
        sendNodes(loop, stream, changed);
        changed = undefined;
        await stream.closed;
      } finally {
        stop();
        leave();
      }
    },
  };
}

/** The pool as it is, as fast as the reader takes it: a large one would be too much for the queue of a stream at once. */
async function sendEveryNode(loop: Loop, stream: StreamWriter<WatchNodesResponse>): Promise<void> {
  const ids = [...loop.world.nodes.keys()];
  for (let start = 0; start === 0 || start < ids.length; start += limits.pageSize) {
    if (start > 0) await stream.ready();
    writeNodes(loop, stream, ids.slice(start, start + limits.pageSize));
  }
}

function sendNodes(loop: Loop, stream: StreamWriter<WatchNodesResponse>, ids: Iterable<NodeId>): void {
  writeNodes(loop, stream, ids);
  bookmark(stream, loop.world.cluster.revision);
}

function writeNodes(loop: Loop, stream: StreamWriter<WatchNodesResponse>, ids: Iterable<NodeId>): void {
  const draft = loop.peek();
  for (const id of ids) {
    const node = draft.node(id);
    if (node) stream.write({ update: { $case: 'node', value: nodeView(draft, node) } });
    else stream.write({ update: { $case: 'removedNodeId', value: id } });
  }
}

/** Sends what is committed from now on; ends after the event that makes the run DONE. */
async function follow(
  { hub, stream, views }: { hub: WatchHub; stream: Stream; views: RunViews },
  id: RunId,
): Promise<void> {
  const stop = hub.onRun(id, (update) => {
    for (const event of update.events) stream.write({ update: { $case: 'event', value: views.event(event) } });
    for (const { stageIndex, progress } of update.progress) {
      stream.write({
        update: { $case: 'loading', value: { stageIndex, progress } },
      });
    }
    if (update.events.length > 0) bookmark(stream, update.revision);
    if (update.events.some(isLastEvent)) stream.end();
  });
  await stream.closed;
  stop();
}
