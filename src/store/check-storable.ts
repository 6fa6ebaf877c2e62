import { limits } from '../core/limits.js';
import type { Changes } from '../core/machine/changes.js';

/**
 * Refuses numbers that no database can hold in a column. Counters never get there and the orchestrator bounds what
 * agents claim, so this is an assertion, not input validation: SQLite and PostgreSQL have signed 64-bit integers only,
 * and a number that wrapped around would be somebody else's id.
 */
export function checkStorable(changes: Changes): void {
  const { cluster } = changes;
  for (const counter of ['epoch', 'revision', 'nextRunId', 'nextNodeId', 'goneNodeId'] as const)
    check(cluster[counter], counter);
  for (const node of changes.nodes) check(node.nodeId, 'node id');
  for (const { after } of changes.runs) {
    check(after.runId, 'run id');
    for (const { nodeId } of after.stages) check(nodeId, 'node id of a stage');
    for (const { stage } of after.remnants) check(stage.nodeId, 'node id of a stage');
  }
  for (const { deviceBytes, revision } of changes.footprints) {
    check(deviceBytes, 'size of a footprint');
    check(revision, 'revision of a footprint');
  }
  for (const event of changes.events) check(event.revision, 'revision of an event');
}

function check(value: bigint, what: string): void {
  if (value >= 0n && value <= limits.storedInteger) return;
  throw new RangeError(`the ${what} ${value} is not between 0 and ${limits.storedInteger}`);
}
