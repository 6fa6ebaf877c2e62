import type {
  OrchestratorServiceService,
  WatchEventsRequest,
  WatchEventsResponse,
} from '../../gen/stageplane/v1/orchestrator_service.js';
import type { RunEvent } from '../../gen/stageplane/v1/run.js';
import { type Revision, revision } from '../core/ids.js';
import { limits } from '../core/limits.js';
import type { ServiceBodies } from '../grpc/add-service.js';
import type { StreamWriter } from '../grpc/stream-writer.js';
import type { Store } from '../store/store.js';
import { revisionAhead } from './answer-errors.js';
import { bookmark } from './bookmark.js';
import type { Loop } from './loop.js';
import { viewsFor } from './viewer-view.js';
import type { WatchHub } from './watch-hub.js';

type Bodies = ServiceBodies<typeof OrchestratorServiceService>;

/** What happens to any run: ordered, unique, atomic per commit, resumable and bookmarked (I10, I12). */
export function watchEventsCall(loop: Loop, store: Store, hub: WatchHub): Pick<Bodies, 'watchEvents'> {
  return {
    async watchEvents(request, stream, context) {
      const leave = hub.admit();
      try {
        const after = beginningOf(request, store);
        if (after > loop.world.cluster.revision) throw revisionAhead(after);
        const views = viewsFor(context);
        const send = (events: readonly RunEvent[]) => {
          for (const event of events) stream.write({ update: { $case: 'event', value: views.event(event) } });
        };
        await replay(store, stream, send, after);
        // Turns begin in setImmediate: between the last empty page and the subscription no commit can slip in.
        bookmark(stream, loop.world.cluster.revision);
        const stop = hub.onEvents((events, at) => {
          send(events);
          bookmark(stream, at);
        });
        await stream.closed;
        stop();
      } finally {
        leave();
      }
    },
  };
}

function beginningOf({ from }: WatchEventsRequest, store: Store): Revision {
  if (from?.$case === 'last') return store.revisionBeforeLast(Math.min(from.value, limits.pageSize));
  return revision(from?.value ?? 0n);
}

/** Sends what the store has, page by page, as fast as the reader takes it. */
async function replay(
  store: Store,
  stream: StreamWriter<WatchEventsResponse>,
  send: (events: readonly RunEvent[]) => void,
  after: Revision,
): Promise<void> {
  let last = after;
  for (;;) {
    const events = store.events(last, limits.eventsPerRead);
    if (events.length === 0 || !stream.isOpen) return;
    send(events);
    last = revision(events.at(-1)!.revision);
    await stream.ready();
  }
}
