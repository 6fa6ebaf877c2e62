import type { Node } from '../../../gen/stageplane/v1/node.js';
import { formatBytes } from '../../core/format-bytes.js';
import { drainLines } from './drain-lines.js';
import { formatAge } from './duration.js';
import { escapeControls } from './escape.js';
import { label } from './labels.js';
import { nodeState } from './node-state.js';
import { renderFields, renderTable } from './table.js';

/** One node with its conditions, devices and engines, and what its live stages take of each device. */
export function nodeDetails(node: Node, now: Date): string {
  return [renderFields(nodeFields(node, now)), conditionTable(node), deviceTable(node)].filter(Boolean).join('\n\n');
}

function nodeFields(node: Node, now: Date): (readonly [string, string])[] {
  const {
    machine = '',
    operatingSystem = '',
    architecture = '',
    physicalCores = 0,
    agentVersion = '',
  } = node.descriptor ?? {};
  const labels = Object.entries(node.descriptor?.labels ?? {}).map(([key, value]) => `${key}=${value}`);
  const engines = node.engines.map(
    ({ name, build, deviceIds }) => `${name} ${build} on ${deviceIds.join(', ') || 'nothing'}`,
  );
  return [
    ['node', `${escapeControls(node.name)} (${node.nodeId})`],
    ['state', nodeState(node)],
    ['machine', escapeControls(`${machine}, ${operatingSystem} ${architecture}, ${physicalCores || 'unknown'} cores`)],
    ['agent', escapeControls(agentVersion)],
    ['engines', escapeControls(engines.join('; ')) || '-'],
    ['labels', escapeControls(labels.join(', ')) || '-'],
    ['live stages', String(node.liveStages)],
    ...(node.drain ? [['drain', drainLines({ node, stagesLeft: node.liveStages }).join('\n')] as const] : []),
    ['heard', node.lastContact ? `${formatAge(node.lastContact, now)} ago` : 'never since the orchestrator started'],
    ['joined', node.createdAt?.toISOString() ?? '-'],
    ['instance', escapeControls(node.instanceId)],
    ['revision', String(node.revision)],
  ];
}

function conditionTable({ conditions }: Node): string {
  if (conditions.length === 0) return '';
  const rows = conditions.map(({ type, met, message }) => [
    label.condition(type),
    met ? 'yes' : 'no',
    escapeControls(message) || '-',
  ]);
  return renderTable([{ head: 'CONDITION' }, { head: 'MET' }, { head: 'WHY' }], rows);
}

function deviceTable({ descriptor, reservations }: Node): string {
  const devices = descriptor?.devices ?? [];
  if (devices.length === 0) return '';
  const columns = [
    { head: 'DEVICE' },
    { head: 'KIND' },
    { head: 'NAME' },
    { head: 'FREE', align: 'right' },
    { head: 'TOTAL', align: 'right' },
    { head: 'RESERVED', align: 'right' },
    { head: 'HELD', align: 'right' },
  ] as const;
  const rows = devices.map(({ deviceId, kind, name, freeBytes, totalBytes }) => {
    const taken = reservations.find((reservation) => reservation.deviceId === deviceId);
    return [
      escapeControls(deviceId),
      label.device(kind),
      escapeControls(name),
      totalBytes > 0n ? formatBytes(freeBytes) : 'unknown',
      totalBytes > 0n ? formatBytes(totalBytes) : 'unknown',
      taken ? bytesOrUnknown(taken.reservedBytes) : '-',
      taken ? bytesOrUnknown(taken.residentBytes) : '-',
    ];
  });
  return renderTable(columns, rows);
}

/** A live stage takes something: 0 only means that nobody has said how much. */
function bytesOrUnknown(bytes: bigint): string {
  return bytes > 0n ? formatBytes(bytes) : 'unknown';
}
