import type { Node } from '../../../gen/stageplane/v1/node.js';
import { formatBytes } from '../../core/format-bytes.js';
import { formatAge } from './duration.js';
import { escapeControls } from './escape.js';
import { nodeState } from './node-state.js';
import { renderTable } from './table.js';

/** Nodes as a list. */
export function nodeTable(nodes: readonly Node[], now: Date): string {
  if (nodes.length === 0) return 'no nodes; start one with `stageplane agent`';
  const columns = [
    { head: 'ID', align: 'right' },
    { head: 'NAME' },
    { head: 'STATE' },
    { head: 'STAGES', align: 'right' },
    { head: 'ENGINES' },
    { head: 'FREE MEMORY' },
    { head: 'HEARD', align: 'right' },
  ] as const;
  const rows = nodes.map((node) => [
    String(node.nodeId),
    escapeControls(node.name),
    nodeState(node),
    String(node.liveStages),
    escapeControls(node.engines.map(({ name }) => name).join(', ')) || '-',
    freeMemory(node),
    node.lastContact ? formatAge(node.lastContact, now) : '-',
  ]);
  return renderTable(columns, rows);
}

function freeMemory({ descriptor, reservations }: Node): string {
  const devices = (descriptor?.devices ?? []).map(({ deviceId, freeBytes, totalBytes }) => {
    const amount = totalBytes > 0n ? `${formatBytes(freeBytes)} of ${formatBytes(totalBytes)}` : 'unknown';
    const reserved = reservations.find((reservation) => reservation.deviceId === deviceId)?.reservedBytes ?? 0n;
    return `${escapeControls(deviceId)} ${amount}${reserved > 0n ? ` (${formatBytes(reserved)} reserved)` : ''}`;
  });
  return devices.join(', ') || '-';
}
