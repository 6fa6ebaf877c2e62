import { formatBytes } from '../../core/format-bytes.js';
import { type DeviceLoad, fullness, inUse } from './device-load.js';
import { escapeControls } from './escape.js';
import { bytesText } from './estimate.js';
import { nodeTitle, shortened } from './node-title.js';
import { segmentBar } from './segment-bar.js';
import { renderTable } from './table.js';

const LEGEND = "~ computed from the model's header, else measured; IN USE: by other programs and other stages";
const BAR_CELLS = 40;
const DEVICE_COLUMNS = 12;

/** Each device that is used as a bar, and below the figures, whose heads say what the letters of the bars are. */
export function memoryPicture(loads: readonly DeviceLoad[], names: ReadonlyMap<bigint, string>): string {
  const titleOf = ({ nodeId }: DeviceLoad) => nodeTitle(names.get(nodeId), nodeId);
  const bars = loads.map((load) => [titleOf(load), deviceName(load), barOf(load), fullText(load)]);
  const figures = loads.map((load) => [titleOf(load), ...figuresOf(load)]);
  const barColumns = [{ head: 'NODE' }, { head: 'DEVICE' }, { head: 'MEMORY' }, { head: 'FULL' }] as const;
  return `${renderTable(barColumns, bars)}\n\n${renderTable(figureColumns, figures)}\n${LEGEND}`;
}

const figureColumns = [
  { head: 'NODE' },
  { head: 'W WEIGHTS', align: 'right' },
  { head: 'K KV CACHE', align: 'right' },
  { head: 'E EMB, HEAD', align: 'right' },
  { head: 'B BUFFERS', align: 'right' },
  { head: 'x IN USE', align: 'right' },
  { head: '· FREE', align: 'right' },
] as const;

function figuresOf({ device, weights, kvCache, ends, buffers, total }: DeviceLoad): string[] {
  const needs = [weights, kvCache, ends, buffers].map(bytesText);
  if (!device || device.totalBytes === 0n) return [...needs, '-', '-'];
  const left = Math.max(0, Number(device.freeBytes) - (total?.value ?? 0));
  return [...needs, formatBytes(inUse(device)), formatBytes(left)];
}

function barOf({ device, weights, kvCache, ends, buffers, total }: DeviceLoad): string {
  if (!device || device.totalBytes === 0n) return '?'.repeat(BAR_CELLS);
  const needs = { W: weights, K: kvCache, E: ends, B: buffers };
  const parts = Object.entries(needs).map(([letter, part]) => ({ letter, size: part?.value ?? 0 }));
  const free = Math.max(0, Number(device.freeBytes) - (total?.value ?? 0));
  return segmentBar([{ letter: 'x', size: inUse(device) }, ...parts, { letter: '·', size: free }], BAR_CELLS);
}

function fullText(load: DeviceLoad): string {
  const full = fullness(load);
  if (full === undefined || !load.device) return 'size unknown';
  return `${Math.round(full * 100)}% of ${formatBytes(load.device.totalBytes)}`;
}

function deviceName({ device }: DeviceLoad): string {
  return device ? shortened(escapeControls(device.deviceId), DEVICE_COLUMNS) : '-';
}
