import { useState } from 'react';
import { Link } from 'wouter';
import type { ApiError } from '../api/api-error.js';
import { useWatch } from '../api/use-watch.js';
import { Empty, Problem } from '../parts/notice.js';
import { Page } from '../parts/page.js';
import { type EventFilter, isShown } from './event-filter.js';
import { EventList } from './event-list.js';
import { type EventView, withEvent } from './event-view.js';

const NEWEST = 500;

/** What happens to any run, as it happens. */
export function EventsPage() {
  const [events, setEvents] = useState<readonly EventView[]>([]);
  const [isRead, setRead] = useState(false);
  const [error, setError] = useState<ApiError>();
  const [filter, setFilter] = useState<EventFilter>({ text: '', kind: 'all' });
  const [life, setLife] = useState(0);
  useWatch(`events ${life}`, {
    method: 'WatchEvents',
    request: (bookmark) => (bookmark === undefined ? { last: NEWEST } : { afterRevision: bookmark }),
    onMessage: (json) => {
      const { event } = json as { event?: unknown };
      if (event) setEvents((before) => withEvent(before, event));
      else setRead(true);
    },
    onRefused: (refused) => {
      if (refused.reason !== 'REVISION_AHEAD') return setError(refused);
      // A backup was put back: what was seen here has never been.
      setEvents([]);
      setLife(life + 1);
    },
  });
  const shown = events.filter((event) => isShown(event, filter));
  return (
    <Page title="Events">
      <Problem error={error} />
      <Filter filter={filter} onChange={setFilter} />
      {isRead && events.length === 0 && (
        <Empty title="Nothing has happened yet">
          <p>
            <Link href="/plan">Plan a model</Link> and create a run: everything that becomes of it is told here.
          </p>
        </Empty>
      )}
      {events.length > 0 && (
        <p className="quiet" role="status">
          {shown.length === events.length ? `${events.length} events` : `${shown.length} of ${events.length} events`}
        </p>
      )}
      <EventList events={shown} ofManyRuns />
    </Page>
  );
}

interface FilterProps {
  readonly filter: EventFilter;
  readonly onChange: (filter: EventFilter) => void;
}

function Filter({ filter, onChange }: FilterProps) {
  return (
    <search className="filter">
      <label>
        Find
        <input
          type="search"
          value={filter.text}
          placeholder="run 7, alpha, exited"
          onChange={({ target }) => onChange({ ...filter, text: target.value })}
        />
      </label>
      <label>
        Show
        <select
          value={filter.kind}
          onChange={({ target }) => onChange({ ...filter, kind: target.value as EventFilter['kind'] })}
        >
          <option value="all">everything</option>
          <option value="runs">runs only</option>
          <option value="faults">faults only</option>
        </select>
      </label>
    </search>
  );
}
