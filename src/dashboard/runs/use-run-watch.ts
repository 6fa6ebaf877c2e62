import { useState } from 'react';
import { WatchRunResponse } from '../../../gen/stageplane/v1/orchestrator_service.js';
import type { LoadProgress } from '../../../gen/stageplane/v1/run.js';
import { useWatch } from '../api/use-watch.js';
import { type EventView, withEvent } from '../events/event-view.js';

/** The events of a run from its first on, and the progress of stages that load. */
export function useRunWatch(runId: string, onCommit: () => void) {
  const [events, setEvents] = useState<readonly EventView[]>([]);
  const [loading, setLoading] = useState<ReadonlyMap<number, LoadProgress>>(new Map());
  useWatch(runId, {
    method: 'WatchRun',
    request: (bookmark) => ({ runId, afterRevision: bookmark ?? '0' }),
    onOpen: onCommit,
    onMessage: (json) => {
      const { update } = WatchRunResponse.fromJSON(json);
      if (update?.$case === 'event') setEvents((before) => withEvent(before, (json as { event: unknown }).event));
      else if (update?.$case === 'progress') onCommit();
      else if (update?.$case === 'loading') {
        const { stageIndex, progress } = update.value;
        if (progress) setLoading((before) => new Map(before).set(stageIndex, progress));
      }
    },
  });
  return { events, loading };
}
