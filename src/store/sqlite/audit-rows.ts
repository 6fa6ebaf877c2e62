import type { Database } from 'better-sqlite3';
import { wallMillis } from '../../core/ids.js';
import {
  type AuditIdentity,
  type AuditKind,
  type AuditQuery,
  type AuditRecord,
  auditKinds,
  type StoredAuditRecord,
} from '../audit-record.js';
import type { AuditBounds } from '../store.js';

interface Row {
  readonly id: bigint;
  readonly kind: AuditKind;
  readonly at: bigint;
  readonly since: bigint;
  readonly count: bigint;
  readonly caller: AuditIdentity['kind'];
  readonly role: string;
  readonly name: string;
  readonly serial: string;
  readonly address: string;
  readonly method: string;
  readonly target: string;
  readonly run_id: bigint | null;
  readonly node_id: bigint | null;
  readonly code: string;
  readonly reason: string;
  readonly incident: string;
}

/** Records between two looks for the oldest: a look passes over all of a kind. */
const FORGET_EVERY = 256n;

/** The audit log: of each kind the newest, and at most `FORGET_EVERY` more (I16). */
export function auditRows(db: Database, bounds: AuditBounds) {
  const insert = db.prepare(`
    INSERT INTO audit (kind, at, since, count, caller, role, name, serial, address, method, target, run_id, node_id,
      code, reason, incident)
    VALUES (@kind, @at, @since, @count, @caller, @role, @name, @serial, @address, @method, @target, @runId, @nodeId,
      @code, @reason, @incident)`);
  const removeOld = db.prepare<[string, string, bigint]>(`
    DELETE FROM audit WHERE kind = ? AND id <= (SELECT id FROM audit WHERE kind = ? ORDER BY id DESC LIMIT 1 OFFSET ?)`);
  const where = `
    WHERE id > @after AND id < @before AND at >= @since AND since <= @until
      AND (@by IS NULL OR @by IN (name, serial, address))
      AND (@method IS NULL OR method = @method OR substr(method, instr(method, '/') + 1) = @method)
      AND (@runId IS NULL OR run_id = @runId) AND (@nodeId IS NULL OR node_id = @nodeId)`;
  const newestFirst = db.prepare<unknown[], Row>(`SELECT * FROM audit ${where} ORDER BY id DESC LIMIT @limit`);
  const oldestFirst = db.prepare<unknown[], Row>(`SELECT * FROM audit ${where} ORDER BY id LIMIT @limit`);

  return {
    add({ kind, at, since, count, by, method, target, runId, nodeId, code, reason, incident }: AuditRecord): void {
      const { kind: caller, ...identity } = by;
      const times = { at: BigInt(at), since: BigInt(since), count: BigInt(count) };
      const about = { method, target, runId: runId ?? null, nodeId: nodeId ?? null, code, reason, incident };
      const { lastInsertRowid: id } = insert.run({ kind, ...times, caller, ...identity, ...about });
      if (BigInt(id) % FORGET_EVERY !== 0n) return;
      for (const one of auditKinds) removeOld.run(one, one, BigInt(bounds[one]));
    },

    find(query: AuditQuery): StoredAuditRecord[] {
      const select = query.after === undefined ? newestFirst : oldestFirst;
      const { after = -1n, before = 2n ** 63n - 1n, by = null, method = null, runId = null, nodeId = null } = query;
      const since = BigInt(query.since ?? 0);
      const until = BigInt(query.until ?? Number.MAX_SAFE_INTEGER);
      const limit = BigInt(query.limit);
      return select.all({ after, before, since, until, by, method, runId, nodeId, limit }).map(recordOf);
    },
  };
}

function recordOf(row: Row): StoredAuditRecord {
  const { id, kind, caller, role, name, serial, address, method, target, code, reason, incident } = row;
  return {
    id,
    kind,
    at: wallMillis(Number(row.at)),
    since: wallMillis(Number(row.since)),
    count: Number(row.count),
    by: { kind: caller, role, name, serial, address },
    method,
    target,
    runId: row.run_id ?? undefined,
    nodeId: row.node_id ?? undefined,
    code,
    reason,
    incident,
  };
}
