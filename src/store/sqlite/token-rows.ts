import type { Database } from 'better-sqlite3';
import { nodeId, wallMillis } from '../../core/ids.js';
import type { Redeemed, TokenRecord } from '../../core/machine/access-records.js';
import type { JoinRole } from '../../core/role.js';

interface Row {
  readonly digest: string;
  readonly role: JoinRole;
  readonly node_name: string;
  readonly expires_at: bigint;
  readonly used_name: string | null;
  readonly used_node: bigint | null;
  readonly used_key: string | null;
}

/** Join tokens, by the digest of their secret. */
export function tokenRows(db: Database) {
  const upsert = db.prepare<[string, string, string, bigint, string | null, bigint | null, string | null]>(`
    REPLACE INTO tokens (digest, role, node_name, expires_at, used_name, used_node, used_key) VALUES (?, ?, ?, ?, ?, ?, ?)`);
  const remove = db.prepare<[string]>('DELETE FROM tokens WHERE digest = ?');
  const select = db.prepare<[], Row>('SELECT * FROM tokens ORDER BY digest');

  return {
    put({ digest, role, nodeName, expiresAt, redeemed }: TokenRecord): void {
      const { name, nodeId, keyDigest } = redeemed ?? {};
      upsert.run(digest, role, nodeName, BigInt(expiresAt), name ?? null, nodeId ?? null, keyDigest ?? null);
    },

    delete(digest: string): void {
      remove.run(digest);
    },

    all(): TokenRecord[] {
      return select.all().map((row) => ({
        digest: row.digest,
        role: row.role,
        nodeName: row.node_name,
        expiresAt: wallMillis(Number(row.expires_at)),
        redeemed: redeemedOf(row),
      }));
    },
  };
}

function redeemedOf({ role, used_name, used_node, used_key }: Row): Redeemed | undefined {
  if (used_name === null || used_key === null) return undefined;
  return { role, name: used_name, nodeId: used_node === null ? undefined : nodeId(used_node), keyDigest: used_key };
}
