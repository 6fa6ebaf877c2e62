import type { Database } from 'better-sqlite3';
import { StageSettings } from '../../../gen/stageplane/v1/provision.js';
import { type RunId, runId } from '../../core/ids.js';
import type { Remnant } from '../../core/machine/state.js';
import { type StageColumns, stageColumns, stageOf } from './stage-rows.js';

interface Row extends StageColumns {
  readonly run_id: bigint;
  readonly generation: bigint;
  readonly settings: Buffer;
}

type Blob = Uint8Array | null;

/** What earlier generations of runs have left on nodes out of contact; hardly ever any. */
export function remnantRows(db: Database) {
  const insert = db.prepare<[bigint, number, number, bigint, string, Blob, Blob, Uint8Array]>(`
    INSERT INTO remnants (run_id, generation, stage_index, node_id, phase, fault, footprint, settings)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)`);
  const remove = db.prepare<[bigint]>('DELETE FROM remnants WHERE run_id = ?');
  const select = db.prepare<[], Row>('SELECT * FROM remnants ORDER BY run_id, generation, stage_index');

  return {
    /** Replaces those of the run. */
    put(id: RunId, remnants: readonly Remnant[]): void {
      remove.run(id);
      for (const { generation, stage, settings } of remnants) {
        insert.run(id, generation, ...stageColumns(stage), StageSettings.encode(settings).finish());
      }
    },

    byRun(): Map<RunId, Remnant[]> {
      const remnants = new Map<RunId, Remnant[]>();
      for (const row of select.all()) {
        const id = runId(row.run_id);
        remnants.set(id, [...(remnants.get(id) ?? []), remnantOf(row)]);
      }
      return remnants;
    },
  };
}

function remnantOf(row: Row): Remnant {
  return {
    generation: Number(row.generation),
    stage: stageOf(row),
    settings: StageSettings.decode(row.settings),
  };
}
