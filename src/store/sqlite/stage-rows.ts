import type { Database } from 'better-sqlite3';
import { StageFault, StageFootprint } from '../../../gen/stageplane/v1/run.js';
import { nodeId, type RunId, runId } from '../../core/ids.js';
import type { StagePhase } from '../../core/machine/stage-transitions.js';
import type { RunState, StageState } from '../../core/machine/state.js';

/** A stage as a row has it, without whose it is. */
export interface StageColumns {
  readonly stage_index: bigint;
  readonly node_id: bigint;
  readonly phase: StagePhase;
  readonly fault: Buffer | null;
  readonly footprint: Buffer | null;
}

interface Row extends StageColumns {
  readonly run_id: bigint;
}

/** The stages of each run's current generation. */
export function stageRows(db: Database) {
  const upsert = db.prepare<[bigint, number, number, bigint, string, Uint8Array | null, Uint8Array | null]>(`
    INSERT INTO stages (run_id, generation, stage_index, node_id, phase, fault, footprint) VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET
      node_id = excluded.node_id, phase = excluded.phase, fault = excluded.fault, footprint = excluded.footprint`);
  const select = db.prepare<[], Row>('SELECT * FROM stages ORDER BY run_id, generation, stage_index');

  return {
    put(run: RunState, stage: StageState): void {
      upsert.run(run.runId, run.generation, ...stageColumns(stage));
    },

    byRun(): Map<RunId, StageState[]> {
      const stages = new Map<RunId, StageState[]>();
      for (const row of select.iterate()) {
        const id = runId(row.run_id);
        const known = stages.get(id);
        if (known) known.push(stageOf(row));
        else stages.set(id, [stageOf(row)]);
      }
      return stages;
    },
  };
}

/** Index, node, phase, fault and footprint, in the order of the columns. */
export function stageColumns({
  index,
  nodeId,
  phase,
  fault,
  footprint,
}: StageState): [number, bigint, string, Uint8Array | null, Uint8Array | null] {
  return [
    index,
    nodeId,
    phase,
    fault ? StageFault.encode(fault).finish() : null,
    footprint ? StageFootprint.encode(footprint).finish() : null,
  ];
}

export function stageOf(row: StageColumns): StageState {
  return {
    index: Number(row.stage_index),
    nodeId: nodeId(row.node_id),
    phase: row.phase,
    fault: row.fault ? StageFault.decode(row.fault) : undefined,
    footprint: row.footprint ? StageFootprint.decode(row.footprint) : undefined,
    volatile: {},
  };
}
