import type { Device, Node } from '../../../gen/stageplane/v1/node.js';
import { formatBytes } from '../../core/format-bytes.js';
import { escapeControls } from '../format/escape.js';
import { nodeState } from '../format/node-state.js';
import { nodeTitle, shortened } from '../format/node-title.js';
import { segmentBar } from '../format/segment-bar.js';

export type Tone = 'good' | 'busy' | 'bad' | 'plain';

/** One line of a panel, safe for a terminal. */
export interface Row {
  readonly key: string;
  readonly text: string;
  readonly tone: Tone;
}

const TITLE_COLUMNS = 20;
const STATE_COLUMNS = 13;
const DEVICE_COLUMNS = 8;

export const poolHead = (width: number): string =>
  line('NODE', 'STATE', 'DEVICE', `${'MEMORY'.padEnd(barCells(width))}  RESERVED / USED / TOTAL  STAGES  LABELS`);

/** One row per node and device; a node without devices has one too. */
export function poolRows(nodes: Iterable<Node>, width: number): Row[] {
  return [...nodes].flatMap((node) => rowsOf(node, width));
}

function rowsOf(node: Node, width: number): Row[] {
  const devices = node.descriptor?.devices ?? [];
  const state = nodeState(node);
  const tone = toneOf(state);
  if (devices.length === 0) {
    return [
      { key: `${node.nodeId}`, tone, text: line(titleOf(node), state, '-', `no memory is known${labelsOf(node)}`) },
    ];
  }
  return devices.map((device, at) => ({
    key: `${node.nodeId} ${device.deviceId}`,
    tone,
    text: line(
      at === 0 ? titleOf(node) : '',
      at === 0 ? state : '',
      shortened(escapeControls(device.deviceId), DEVICE_COLUMNS),
      `${memoryOf(node, device, barCells(width))}${at === 0 ? `  ${String(node.liveStages).padStart(6)}${labelsOf(node)}` : ''}`,
    ),
  }));
}

/** `#` reserved by stages or held by them, `x` used by others, `·` free. */
function memoryOf({ reservations }: Node, { deviceId, totalBytes, freeBytes }: Device, cells: number): string {
  const { reservedBytes = 0n, residentBytes = 0n } =
    reservations.find((reservation) => reservation.deviceId === deviceId) ?? {};
  const reserved = formatBytes(reservedBytes);
  if (totalBytes === 0n) return `${'?'.repeat(cells)}  ${figures(reserved, '?', '?')}`;
  const total = Number(totalBytes);
  const used = Math.max(0, total - Number(freeBytes));
  const ours = Math.min(total, Math.max(Number(reservedBytes), Number(residentBytes)));
  const others = Math.min(total - ours, Math.max(0, used - Number(residentBytes)));
  const parts = [
    { letter: '#', size: ours },
    { letter: 'x', size: others },
    { letter: '·', size: total - ours - others },
  ];
  return `${segmentBar(parts, cells)}  ${figures(reserved, formatBytes(used), formatBytes(totalBytes))}`;
}

function figures(reserved: string, used: string, total: string): string {
  return `${reserved} / ${used} / ${total}`.padEnd(23);
}

function labelsOf({ descriptor }: Node): string {
  const labels = Object.entries(descriptor?.labels ?? {}).map(([name, value]) => `${name}=${value}`);
  return labels.length > 0 ? `  ${escapeControls(labels.sort().join(' '))}` : '';
}

function titleOf({ name, nodeId }: Node): string {
  return shortened(nodeTitle(name, nodeId), TITLE_COLUMNS);
}

function line(title: string, state: string, device: string, rest: string): string {
  return `${title.padEnd(TITLE_COLUMNS)} ${state.padEnd(STATE_COLUMNS)} ${device.padEnd(DEVICE_COLUMNS)} ${rest}`;
}

function barCells(width: number): number {
  return Math.max(8, Math.min(40, width - 95));
}

function toneOf(state: string): Tone {
  if (state === 'schedulable') return 'good';
  return state === 'lost' || state === 'away' ? 'bad' : 'busy';
}
