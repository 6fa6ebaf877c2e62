import { Link } from 'wouter';
import { Status } from '../parts/status.js';
import type { EventView } from './event-view.js';

interface Props {
  readonly events: readonly EventView[];
  /** Whether each says which run it is of. */
  readonly ofManyRuns: boolean;
}

/** Events, newest first. */
export function EventList({ events, ofManyRuns }: Props) {
  return (
    <ol className="events">
      {events.map((event) => (
        <li key={String(event.revision)} data-revision={String(event.revision)}>
          <span className="event-time">{event.time}</span>
          <span className="event-subject">
            {ofManyRuns && <Link href={`/runs/${event.runId}`}>run {event.runId}</Link>}
            {ofManyRuns && event.subject === 'run' ? '' : ` ${event.subject}`}
          </span>
          <Status state={event.state} />
          {event.text !== '' && <span className="event-text">{event.text}</span>}
        </li>
      ))}
    </ol>
  );
}
