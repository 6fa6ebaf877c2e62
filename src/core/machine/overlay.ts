import type { NodeId } from '../ids.js';
import type { FootprintRecord, NodeState, World } from './state.js';

/** Brings changes into a map; undefined deletes. */
export function replaceAll<K, V>(target: Map<K, V>, changes: ReadonlyMap<K, V | undefined>): void {
  for (const [key, value] of changes) {
    if (value === undefined) target.delete(key);
    else target.set(key, value);
  }
}

/** How many entries there are once the changes are made. */
export function countAfter<K>(base: ReadonlyMap<K, unknown>, changes: ReadonlyMap<K, unknown>): number {
  let count = base.size;
  for (const [key, value] of changes) count += Number(value !== undefined) - Number(base.has(key));
  return count;
}

/** A record that is renewed is the newest one. */
export function putLast(records: Map<string, FootprintRecord>, record: FootprintRecord): void {
  records.delete(record.key);
  records.set(record.key, record);
}

export function idsOfDeleted<Id>(records: ReadonlyMap<Id, unknown>): Id[] {
  return [...records].flatMap(([id, record]) => (record === undefined ? [id] : []));
}

/** A node in every index of the world; undefined deletes it. */
export function replaceNode(world: World, id: NodeId, node: NodeState | undefined): void {
  const before = world.nodes.get(id);
  if (before && before.name !== node?.name) world.nodeByName.delete(before.name);
  if (before && before.instanceId !== node?.instanceId) world.nodeByInstance.delete(before.instanceId);
  if (!node) {
    world.nodes.delete(id);
    return;
  }
  world.nodes.set(id, node);
  world.nodeByInstance.set(node.instanceId, id);
  world.nodeByName.set(node.name, id);
}
