import type { Database } from 'better-sqlite3';
import { ModelInspection } from '../../../gen/stageplane/v1/model.js';
import { PlanRequest } from '../../../gen/stageplane/v1/planner.js';
import { RunCause } from '../../../gen/stageplane/v1/run.js';
import { type RunId, runId } from '../../core/ids.js';
import type { RestartBasis, RestartState } from '../../core/machine/state.js';
import type { ModelCuts } from '../../core/planner/model-cuts.js';

interface Row {
  readonly run_id: bigint;
  readonly max_attempts: bigint;
  readonly backoff: bigint;
  readonly attempts: bigint;
  readonly last_cause: Buffer | null;
  readonly obstacle: string;
  readonly request: Buffer | null;
  readonly inspection: Buffer | null;
  readonly cuts: string | null;
}

type Blob = Uint8Array | null;

/** How runs begin again after a fault; none of those that do not. */
export function restartRows(db: Database) {
  const upsert = db.prepare<[bigint, number, number, number, Blob, string, Blob, Blob, string | null]>(`
    INSERT INTO restarts (run_id, max_attempts, backoff, attempts, last_cause, obstacle, request, inspection, cuts)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET
      max_attempts = excluded.max_attempts, backoff = excluded.backoff, attempts = excluded.attempts,
      last_cause = excluded.last_cause, obstacle = excluded.obstacle, request = excluded.request,
      inspection = excluded.inspection, cuts = excluded.cuts`);
  const remove = db.prepare<[bigint]>('DELETE FROM restarts WHERE run_id = ?');
  const select = db.prepare<[], Row>('SELECT * FROM restarts');

  return {
    put(id: RunId, restart: RestartState | undefined): void {
      if (!restart) {
        remove.run(id);
        return;
      }
      const { maxAttempts, backoff, attempts, lastCause, obstacle, basis } = restart;
      upsert.run(
        id,
        maxAttempts,
        backoff,
        attempts,
        lastCause ? RunCause.encode(lastCause).finish() : null,
        obstacle,
        basis ? PlanRequest.encode(basis.request).finish() : null,
        basis?.inspection ? ModelInspection.encode(basis.inspection).finish() : null,
        basis?.modelCuts ? JSON.stringify(basis.modelCuts) : null,
      );
    },

    byRun(): Map<RunId, RestartState> {
      return new Map(select.all().map((row) => [runId(row.run_id), restartOf(row)]));
    },
  };
}

function restartOf(row: Row): RestartState {
  return {
    maxAttempts: Number(row.max_attempts),
    backoff: Number(row.backoff),
    attempts: Number(row.attempts),
    lastCause: row.last_cause ? RunCause.decode(row.last_cause) : undefined,
    obstacle: row.obstacle,
    basis: basisOf(row),
  };
}

function basisOf({ request, inspection, cuts }: Row): RestartBasis | undefined {
  if (request === null) return undefined;
  return {
    request: PlanRequest.decode(request),
    inspection: inspection ? ModelInspection.decode(inspection) : undefined,
    modelCuts: cuts === null ? undefined : (JSON.parse(cuts) as ModelCuts),
  };
}
