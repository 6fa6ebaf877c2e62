import type { Database } from 'better-sqlite3';
import { RunEvent } from '../../../gen/stageplane/v1/run.js';
import { type Revision, type RunId, revision as toRevision } from '../../core/ids.js';
import { limits } from '../../core/limits.js';

/** What happened to runs. A revision is written once (I12). */
export function eventRows(db: Database) {
  const insert = db.prepare<[bigint, bigint, Uint8Array]>(
    'INSERT INTO events (revision, run_id, event) VALUES (?, ?, ?)',
  );
  const select = db
    .prepare<[bigint, bigint, number], Buffer>(
      'SELECT event FROM events WHERE run_id = ? AND revision > ? ORDER BY revision LIMIT ?',
    )
    .pluck();

  const selectAll = db
    .prepare<[bigint, number], Buffer>('SELECT event FROM events WHERE revision > ? ORDER BY revision LIMIT ?')
    .pluck();
  const selectBefore = db
    .prepare<[number], bigint>('SELECT revision FROM events ORDER BY revision DESC LIMIT 1 OFFSET ?')
    .pluck();

  return {
    add(event: RunEvent): void {
      insert.run(event.revision, event.runId, RunEvent.encode(event).finish());
    },

    after(runId: RunId, revision: Revision, limit: number): RunEvent[] {
      // Both come from launchers, who may ask for any uint64; nothing is stored there.
      if (runId > limits.storedInteger || revision > limits.storedInteger) return [];
      return select.all(runId, revision, limit).map((event) => RunEvent.decode(event));
    },

    ofAll(revision: Revision, limit: number): RunEvent[] {
      if (revision > limits.storedInteger) return [];
      return selectAll.all(revision, limit).map((event) => RunEvent.decode(event));
    },

    revisionBeforeLast(count: number): Revision {
      return toRevision(selectBefore.get(count) ?? 0n);
    },
  };
}
