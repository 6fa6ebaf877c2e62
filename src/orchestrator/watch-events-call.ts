import type { OrchestratorServiceService, WatchEventsRequest } from '../../gen/stageplane/v1/orchestrator_service.js';
import type { RunEvent } from '../../gen/stageplane/v1/run.js';
import { type Revision, revision } from '../core/ids.js';
import { limits } from '../core/limits.js';
import type { ServiceBodies } from '../grpc/add-service.js';
import type { Store } from '../store/store.js';
import { revisionAhead } from './answer-errors.js';
import { bookmark } from './bookmark.js';
import type { Loop } from './loop.js';
import { replayEvents } from './replay-events.js';
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
        await replayEvents(stream, after, (last, limit) => store.events(last, limit), send);
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
