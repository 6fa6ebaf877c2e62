import type { Database } from 'better-sqlite3';
import { type RunId, revision, runId, wallMillis } from '../../core/ids.js';
import type { RunOutcome, RunPhase } from '../../core/machine/run-transitions.js';
import type { RunState, StageState } from '../../core/machine/state.js';
import { causeRows } from './cause-rows.js';
import { type Planned, planRows } from './plan-rows.js';
import { remnantRows } from './remnant-rows.js';
import { restartRows } from './restart-rows.js';
import { stageRows } from './stage-rows.js';

interface Row {
  readonly run_id: bigint;
  readonly request_id: string;
  readonly mode: bigint;
  readonly phase: RunPhase;
  readonly outcome: RunOutcome | null;
  readonly generation: bigint;
  readonly created_at: bigint;
  readonly revision: bigint;
}

/** Runs, each with its cause, its plan and its stages. Deleting a run deletes these and its events. */
export function runRows(db: Database) {
  const upsert = db.prepare<[bigint, string, number, string, string | null, number, bigint, bigint]>(`
    INSERT INTO runs (run_id, request_id, mode, phase, outcome, generation, created_at, revision)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET
      request_id = excluded.request_id, mode = excluded.mode, phase = excluded.phase, outcome = excluded.outcome,
      generation = excluded.generation, created_at = excluded.created_at, revision = excluded.revision`);
  const remove = db.prepare<[bigint]>('DELETE FROM runs WHERE run_id = ?');
  const select = db.prepare<[], Row>('SELECT * FROM runs ORDER BY run_id');
  const causes = causeRows(db);
  const plans = planRows(db);
  const stages = stageRows(db);
  const remnants = remnantRows(db);
  const restarts = restartRows(db);

  return {
    /** Writes what differs from `before`, which is what the store has of the run. */
    put(before: RunState | undefined, after: RunState): void {
      upsert.run(
        after.runId,
        after.requestId,
        after.mode,
        after.phase,
        after.outcome ?? null,
        after.generation,
        BigInt(after.createdAt),
        after.revision,
      );
      if (after.cause !== before?.cause) causes.put(after.runId, after.cause);
      const known = before?.generation === after.generation ? before : undefined;
      if (!samePlan(known, after)) plans.put(after);
      if (before && !known) plans.keepOnly(after);
      for (const stage of after.stages) {
        if (!sameStage(known?.stages[stage.index], stage)) stages.put(after, stage);
      }
      if (
        after.remnants !== before?.remnants &&
        (before?.remnants ?? after.remnants).length + after.remnants.length > 0
      )
        remnants.put(after.runId, after.remnants);
      if (after.restart !== before?.restart) restarts.put(after.runId, after.restart);
    },

    delete(id: RunId): void {
      remove.run(id);
    },

    all(): RunState[] {
      const causeByRun = causes.byRun();
      const planByRun = plans.byRun();
      const stagesByRun = stages.byRun();
      const remnantsByRun = remnants.byRun();
      const restartByRun = restarts.byRun();
      return select.all().map((row) => {
        const id = runId(row.run_id);
        const planned = planByRun.get(id);
        if (!planned) throw new Error(`run ${id} has no plan`);
        return {
          ...runOf(row),
          ...planned,
          cause: causeByRun.get(id),
          stages: stagesByRun.get(id) ?? [],
          remnants: remnantsByRun.get(id) ?? [],
          restart: restartByRun.get(id),
        };
      });
    },
  };
}

function runOf(row: Row): Omit<RunState, keyof Planned | 'stages' | 'remnants'> {
  return {
    runId: runId(row.run_id),
    requestId: row.request_id,
    mode: Number(row.mode),
    phase: row.phase,
    outcome: row.outcome ?? undefined,
    generation: Number(row.generation),
    createdAt: wallMillis(Number(row.created_at)),
    revision: revision(row.revision),
    volatile: {},
  };
}

/** By identity: states are immutable, and a needless write does no harm. */
function samePlan(before: RunState | undefined, after: RunState): boolean {
  return (
    before?.plan === after.plan &&
    before.settings === after.settings &&
    before.planId === after.planId &&
    before.fidelity === after.fidelity
  );
}

/** A stage whose volatile part alone differs need not be written. */
function sameStage(before: StageState | undefined, after: StageState): boolean {
  if (before === after) return true;
  return (
    before?.phase === after.phase &&
    before.nodeId === after.nodeId &&
    before.fault === after.fault &&
    before.footprint === after.footprint
  );
}
