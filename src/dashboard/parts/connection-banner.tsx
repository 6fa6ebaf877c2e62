import { useSyncExternalStore } from 'react';
import { connection } from '../api/connection.js';

/** Says that the orchestrator is not heard of, and since when. What is shown meanwhile is what was last read. */
export function ConnectionBanner() {
  const since = useSyncExternalStore(connection.subscribe, connection.since);
  return (
    <div className="banner-place" role="status">
      {since !== undefined && (
        <p className="banner">
          Connection lost since {new Date(since).toLocaleTimeString()}, trying again. What you see is from before.
        </p>
      )}
    </div>
  );
}
