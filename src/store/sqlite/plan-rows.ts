import type { Database } from 'better-sqlite3';
import { RunPlan } from '../../../gen/stageplane/v1/plan.js';
import { Run } from '../../../gen/stageplane/v1/run.js';
import { type RunId, runId } from '../../core/ids.js';
import type { RunState } from '../../core/machine/state.js';

interface Row {
  readonly run_id: bigint;
  readonly plan_id: string;
  readonly planned: Buffer;
}

export type Planned = Pick<RunState, 'plan' | 'planId' | 'settings' | 'fidelity'>;

/** The plan of each run's current generation. Its stages refer to it and go with it. */
export function planRows(db: Database) {
  const upsert = db.prepare<[bigint, number, string, Uint8Array]>(`
    INSERT INTO plans (run_id, generation, plan_id, planned) VALUES (?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET plan_id = excluded.plan_id, planned = excluded.planned`);
  const removeOthers = db.prepare<[bigint, number]>('DELETE FROM plans WHERE run_id = ? AND generation <> ?');
  const select = db.prepare<[], Row>('SELECT run_id, plan_id, planned FROM plans');

  return {
    put(run: RunState): void {
      const { plan, settings, fidelity } = run;
      const planned = Run.encode({ ...Run.create(), plan, settings: [...settings], fidelity }).finish();
      upsert.run(run.runId, run.generation, run.planId, planned);
    },

    /** Drops the plans of earlier generations, and their stages. */
    keepOnly(run: RunState): void {
      removeOthers.run(run.runId, run.generation);
    },

    byRun(): Map<RunId, Planned> {
      return new Map(select.all().map((row) => [runId(row.run_id), plannedOf(row)]));
    },
  };
}

function plannedOf(row: Row): Planned {
  const { plan = RunPlan.create(), settings, fidelity } = Run.decode(row.planned);
  return { plan, planId: row.plan_id, settings, fidelity };
}
