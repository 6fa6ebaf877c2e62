import type { Database } from 'better-sqlite3';
import { nodeId, wallMillis } from '../../core/ids.js';
import type { CertificateRecord } from '../../core/machine/access-records.js';
import type { JoinRole } from '../../core/role.js';

interface Row {
  readonly serial: string;
  readonly role: JoinRole;
  readonly name: string;
  readonly node_id: bigint | null;
  readonly not_after: bigint;
  readonly revoked: bigint;
}

/** Certificates that were issued, by serial. */
export function certificateRows(db: Database) {
  const upsert = db.prepare<[string, string, string, bigint | null, bigint, bigint]>(`
    REPLACE INTO certificates (serial, role, name, node_id, not_after, revoked) VALUES (?, ?, ?, ?, ?, ?)`);
  const remove = db.prepare<[string]>('DELETE FROM certificates WHERE serial = ?');
  const select = db.prepare<[], Row>('SELECT * FROM certificates ORDER BY serial');

  return {
    put({ serial, role, name, nodeId, notAfter, revoked }: CertificateRecord): void {
      upsert.run(serial, role, name, nodeId ?? null, BigInt(notAfter), BigInt(revoked));
    },

    delete(serial: string): void {
      remove.run(serial);
    },

    all(): CertificateRecord[] {
      return select.all().map((row) => ({
        serial: row.serial,
        role: row.role,
        name: row.name,
        nodeId: row.node_id === null ? undefined : nodeId(row.node_id),
        notAfter: wallMillis(Number(row.not_after)),
        revoked: row.revoked !== 0n,
      }));
    },
  };
}
