import type { Database } from 'better-sqlite3';
import { wallMillis } from '../../core/ids.js';
import type { KeyRecord } from '../../core/machine/access-records.js';
import type { KeyRole } from '../../core/role.js';

interface Row {
  readonly digest: string;
  readonly name: string;
  readonly role: KeyRole;
  readonly created_at: bigint;
  readonly expires_at: bigint | null;
}

/** Keys of the HTTP port, by the digest of their text. */
export function keyRows(db: Database) {
  const upsert = db.prepare<[string, string, string, bigint, bigint | null]>(
    'REPLACE INTO api_keys (digest, name, role, created_at, expires_at) VALUES (?, ?, ?, ?, ?)',
  );
  const remove = db.prepare<[string]>('DELETE FROM api_keys WHERE digest = ?');
  const select = db.prepare<[], Row>('SELECT * FROM api_keys ORDER BY digest');

  return {
    put({ digest, name, role, createdAt, expiresAt }: KeyRecord): void {
      upsert.run(digest, name, role, BigInt(createdAt), expiresAt === undefined ? null : BigInt(expiresAt));
    },

    delete(digest: string): void {
      remove.run(digest);
    },

    all(): KeyRecord[] {
      return select.all().map(({ digest, name, role, created_at, expires_at }) => ({
        digest,
        name,
        role,
        createdAt: wallMillis(Number(created_at)),
        expiresAt: expires_at === null ? undefined : wallMillis(Number(expires_at)),
      }));
    },
  };
}
