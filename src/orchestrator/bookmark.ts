import type { WatchProgress } from '../../gen/stageplane/v1/orchestrator_service.js';
import type { Revision } from '../core/ids.js';
import type { StreamWriter } from '../grpc/stream-writer.js';

interface Bookmark {
  readonly update: { readonly $case: 'progress'; readonly value: WatchProgress };
}

/** Tells a watcher that everything up to a revision was sent (I10). */
export function bookmark(stream: Pick<StreamWriter<Bookmark>, 'write'>, revision: Revision): void {
  stream.write({ update: { $case: 'progress', value: { revision } } });
}
