import type { Database } from 'better-sqlite3';
import { StageFault } from '../../../gen/stageplane/v1/run.js';
import { nodeId, type RunId, revision, runId } from '../../core/ids.js';
import type { RunCause } from '../../core/machine/state.js';

interface Row {
  readonly run_id: bigint;
  readonly fault: Buffer;
  readonly stage_index: bigint | null;
  readonly node_id: bigint | null;
  readonly component: RunCause['component'];
  readonly revision: bigint;
  readonly fixed: bigint;
}

/** Why runs ended before their time: at most one cause per run. */
export function causeRows(db: Database) {
  const upsert = db.prepare<[bigint, Uint8Array, number | null, bigint | null, string, bigint, bigint]>(`
    INSERT INTO causes (run_id, fault, stage_index, node_id, component, revision, fixed) VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET
      fault = excluded.fault, stage_index = excluded.stage_index, node_id = excluded.node_id,
      component = excluded.component, revision = excluded.revision, fixed = excluded.fixed`);
  const remove = db.prepare<[bigint]>('DELETE FROM causes WHERE run_id = ?');
  const select = db.prepare<[], Row>('SELECT * FROM causes');

  return {
    put(id: RunId, cause: RunCause | undefined): void {
      if (!cause) {
        remove.run(id);
        return;
      }
      upsert.run(
        id,
        StageFault.encode(cause.fault).finish(),
        cause.stageIndex ?? null,
        cause.nodeId ?? null,
        cause.component,
        cause.revision,
        BigInt(cause.fixed),
      );
    },

    byRun(): Map<RunId, RunCause> {
      return new Map(select.all().map((row) => [runId(row.run_id), causeOf(row)]));
    },
  };
}

function causeOf(row: Row): RunCause {
  return {
    fault: StageFault.decode(row.fault),
    stageIndex: row.stage_index === null ? undefined : Number(row.stage_index),
    nodeId: row.node_id === null ? undefined : nodeId(row.node_id),
    component: row.component,
    revision: revision(row.revision),
    fixed: row.fixed !== 0n,
  };
}
