import type { RunEvent } from '../../gen/stageplane/v1/run.js';
import { type Revision, revision } from '../core/ids.js';
import { limits } from '../core/limits.js';
import type { StreamWriter } from '../grpc/stream-writer.js';

/**
 * Sends what a store has after a revision, page by page, as fast as the reader of the stream takes it.
 *
 * @param read events after a revision, in order, at most `limit`
 */
export async function replayEvents(
  stream: Pick<StreamWriter<unknown>, 'isOpen' | 'ready'>,
  after: Revision,
  read: (after: Revision, limit: number) => readonly RunEvent[],
  send: (events: readonly RunEvent[]) => void,
): Promise<void> {
  let last = after;
  for (;;) {
    const events = read(last, limits.eventsPerRead);
    if (events.length === 0 || !stream.isOpen) return;
    send(events);
    last = revision(events.at(-1)!.revision);
    await stream.ready();
  }
}
