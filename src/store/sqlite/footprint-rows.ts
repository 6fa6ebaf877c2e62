import type { Database } from 'better-sqlite3';
import { revision } from '../../core/ids.js';
import type { FootprintRecord } from '../../core/machine/state.js';

interface Row {
  readonly key: string;
  readonly device_bytes: bigint;
  readonly revision: bigint;
}

/** What stages held when they had loaded: the newest `limit` of them (I16). */
export function footprintRows(db: Database, limit: number) {
  const upsert = db.prepare<[string, bigint, bigint]>(`
    INSERT INTO footprints (key, device_bytes, revision) VALUES (?, ?, ?)
    ON CONFLICT DO UPDATE SET device_bytes = excluded.device_bytes, revision = excluded.revision`);
  const select = db.prepare<[], Row>('SELECT * FROM footprints ORDER BY revision');
  const count = db.prepare<[], bigint>('SELECT count(*) FROM footprints').pluck();
  const removeOldest = db.prepare<[bigint]>(
    'DELETE FROM footprints WHERE key IN (SELECT key FROM footprints ORDER BY revision LIMIT ?)',
  );

  return {
    put(record: FootprintRecord): void {
      upsert.run(record.key, record.deviceBytes, record.revision);
    },

    /** Forgets the oldest records, as far as there are too many. */
    forgetOld(): void {
      const excess = (count.get() ?? 0n) - BigInt(limit);
      if (excess > 0n) removeOldest.run(excess);
    },

    all(): FootprintRecord[] {
      return select.all().map((row) => ({
        key: row.key,
        deviceBytes: row.device_bytes,
        revision: revision(row.revision),
      }));
    },
  };
}
