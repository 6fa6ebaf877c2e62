import type { WatchRunRequest, WatchRunResponse } from '../../gen/stageplane/v1/orchestrator_service.js';

// biome-ignore lint/suspicious/noExplicitAny: each cursor knows its own method's messages.
type Any = any;

/** How a stream is taken up again where its reader lost it. */
export interface Cursor {
  /** Undefined where a reader could not go on from. */
  idOf(response: Any): string | undefined;
  resume(request: Any, lastId: string): Any;
}

const watchRun: Cursor = {
  // A commit has several events: only the bookmark after them says that all were sent (I10).
  idOf: ({ update }: WatchRunResponse) => (update?.$case === 'progress' ? String(update.value.revision) : undefined),
  resume: (request: WatchRunRequest, lastId): WatchRunRequest => {
    const isRevision = /^\d{1,19}$/.test(lastId);
    return isRevision ? { ...request, afterRevision: BigInt(lastId) } : request;
  },
};

/** By the names of the methods in the generated service. */
export const cursors: Readonly<Record<string, Cursor>> = { watchRun };
