import type { Database } from 'better-sqlite3';
import { runId } from '../../core/ids.js';
import type { RequestRecord } from '../../core/machine/state.js';

interface Row {
  readonly request_id: string;
  readonly digest: string;
  readonly run_id: bigint;
}

/** Launchers' requests that had their effect (I9), at most `limit` of them unless more runs than that exist (I16). */
export function requestRows(db: Database, limit: number) {
  const upsert = db.prepare<[string, string, bigint]>(`
    INSERT INTO requests (request_id, digest, run_id) VALUES (?, ?, ?)
    ON CONFLICT DO UPDATE SET digest = excluded.digest, run_id = excluded.run_id`);
  const select = db.prepare<[], Row>('SELECT * FROM requests ORDER BY run_id');
  const count = db.prepare<[], bigint>('SELECT count(*) FROM requests').pluck();
  const removeSpent = db.prepare<[bigint]>(`
    DELETE FROM requests WHERE request_id IN (
      SELECT request_id FROM requests WHERE run_id NOT IN (SELECT run_id FROM runs) ORDER BY run_id LIMIT ?)`);

  return {
    put(request: RequestRecord): void {
      upsert.run(request.requestId, request.digest, request.runId);
    },

    /** Forgets the oldest records whose run is gone, as far as there are too many. */
    forgetSpent(): void {
      const excess = (count.get() ?? 0n) - BigInt(limit);
      if (excess > 0n) removeSpent.run(excess);
    },

    all(): RequestRecord[] {
      return select.all().map((row) => ({ requestId: row.request_id, digest: row.digest, runId: runId(row.run_id) }));
    },
  };
}
