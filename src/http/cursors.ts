import type {
  WatchEventsRequest,
  WatchEventsResponse,
  WatchRunRequest,
  WatchRunResponse,
} from '../../gen/stageplane/v1/orchestrator_service.js';

// biome-ignore lint/suspicious/noExplicitAny: each cursor knows its own method's messages.
type Any = any;

/** How a stream is taken up again where its reader lost it. */
export interface Cursor {
  /** Undefined where a reader could not go on from. */
  idOf(response: Any): string | undefined;
  resume(request: Any, lastId: string): Any;
}

// A commit has several events: only the bookmark after them says that all were sent (I10).
const bookmarkIn = ({ update }: WatchRunResponse | WatchEventsResponse): string | undefined =>
  update?.$case === 'progress' ? String(update.value.revision) : undefined;

const revisionIn = (id: string): bigint | undefined => (/^\d{1,19}$/.test(id) ? BigInt(id) : undefined);

const watchRun: Cursor = {
  idOf: bookmarkIn,
  resume: (request: WatchRunRequest, lastId): WatchRunRequest => {
    const afterRevision = revisionIn(lastId);
    return afterRevision === undefined ? request : { ...request, afterRevision };
  },
};

const watchEvents: Cursor = {
  idOf: bookmarkIn,
  resume: (request: WatchEventsRequest, lastId): WatchEventsRequest => {
    const value = revisionIn(lastId);
    return value === undefined ? request : { from: { $case: 'afterRevision', value } };
  },
};

/** By the names of the methods in the generated service. */
export const cursors: Readonly<Record<string, Cursor>> = { watchRun, watchEvents };
