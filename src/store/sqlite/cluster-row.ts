import type { Database } from 'better-sqlite3';
import { nodeId, revision, runId } from '../../core/ids.js';
import type { ClusterState } from '../../core/machine/state.js';

interface Row {
  readonly cluster_id: string;
  readonly epoch: bigint;
  readonly revision: bigint;
  readonly next_run_id: bigint;
  readonly next_node_id: bigint;
  readonly gone_node_id: bigint;
}

/** The one row of the cluster. `get` answers undefined when it is missing, which is damage. */
export function clusterRow(db: Database) {
  const upsert = db.prepare<[string, bigint, bigint, bigint, bigint, bigint]>(`
    INSERT INTO cluster (id, cluster_id, epoch, revision, next_run_id, next_node_id, gone_node_id)
    VALUES (1, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET
      cluster_id = excluded.cluster_id, epoch = excluded.epoch, revision = excluded.revision,
      next_run_id = excluded.next_run_id, next_node_id = excluded.next_node_id, gone_node_id = excluded.gone_node_id`);
  const select = db.prepare<[], Row>('SELECT * FROM cluster');

  return {
    put({ clusterId, epoch, revision, nextRunId, nextNodeId, goneNodeId }: ClusterState): void {
      upsert.run(clusterId, epoch, revision, nextRunId, nextNodeId, goneNodeId);
    },

    get(): ClusterState | undefined {
      const row = select.get();
      return (
        row && {
          clusterId: row.cluster_id,
          epoch: row.epoch,
          revision: revision(row.revision),
          nextRunId: runId(row.next_run_id),
          nextNodeId: nodeId(row.next_node_id),
          goneNodeId: nodeId(row.gone_node_id),
        }
      );
    },
  };
}
