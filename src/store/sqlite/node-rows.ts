import type { Database } from 'better-sqlite3';
import { Node, NodeDescriptor } from '../../../gen/stageplane/v1/node.js';
import { type NodeId, nodeId, revision, wallMillis } from '../../core/ids.js';
import type { NodeState } from '../../core/machine/state.js';

interface Row {
  readonly node_id: bigint;
  readonly name: string;
  readonly instance_id: string;
  readonly cordoned: bigint;
  readonly drain_until: bigint | null;
  readonly machine: Buffer;
  readonly created_at: bigint;
  readonly revision: bigint;
}

/** The nodes that ever joined and were not deleted. */
export function nodeRows(db: Database) {
  const upsert = db.prepare<[bigint, string, string, bigint, bigint | null, Uint8Array, bigint, bigint]>(`
    INSERT INTO nodes (node_id, name, instance_id, cordoned, drain_until, machine, created_at, revision)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET
      name = excluded.name, instance_id = excluded.instance_id, cordoned = excluded.cordoned,
      drain_until = excluded.drain_until, machine = excluded.machine, created_at = excluded.created_at, revision = excluded.revision`);
  const remove = db.prepare<[bigint]>('DELETE FROM nodes WHERE node_id = ?');
  const select = db.prepare<[], Row>('SELECT * FROM nodes ORDER BY node_id');

  return {
    put(node: NodeState): void {
      upsert.run(
        node.nodeId,
        node.name,
        node.instanceId,
        BigInt(node.cordoned),
        node.drainUntil === undefined ? null : BigInt(node.drainUntil),
        encodeMachine(node),
        BigInt(node.createdAt),
        node.revision,
      );
    },

    delete(id: NodeId): void {
      remove.run(id);
    },

    all(): NodeState[] {
      return select.all().map((row) => ({
        nodeId: nodeId(row.node_id),
        name: row.name,
        instanceId: row.instance_id,
        cordoned: row.cordoned !== 0n,
        drainUntil: row.drain_until === null ? undefined : wallMillis(Number(row.drain_until)),
        ...decodeMachine(row.machine),
        createdAt: wallMillis(Number(row.created_at)),
        revision: revision(row.revision),
      }));
    },
  };
}

type Machine = Pick<NodeState, 'descriptor' | 'engines'>;

function encodeMachine({ descriptor, engines }: Machine): Uint8Array {
  return Node.encode({ ...Node.create(), descriptor, engines: [...engines] }).finish();
}

function decodeMachine(machine: Buffer): Machine {
  const { descriptor = NodeDescriptor.create(), engines } = Node.decode(machine);
  return { descriptor, engines };
}
