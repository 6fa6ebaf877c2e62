import type { Device, DeviceReservation } from '../../../gen/stageplane/v1/node.js';
import { escapeControls } from '../../cli/format/escape.js';
import { formatBytes } from '../../core/format-bytes.js';
import type { BarPart } from '../parts/bar-part.js';

/** One device of a node as a bar and its figures. */
export interface DeviceView {
  readonly id: string;
  /** Name for people; empty when it is the id once more. */
  readonly name: string;
  /** Empty when the size is unknown. */
  readonly parts: readonly BarPart[];
  /** `19.1 GiB free of 24.0 GiB` */
  readonly summary: string;
}

/** Whose memory it is: what stages hold, what they were promised beside it, what other programs use, and what is left. */
export function deviceView(device: Device, reservation: DeviceReservation | undefined): DeviceView {
  const { deviceId, name, totalBytes, freeBytes } = device;
  const shown = { id: escapeControls(deviceId), name: name === deviceId ? '' : escapeControls(name) };
  const total = Number(totalBytes);
  if (total === 0) return { ...shown, parts: [], summary: reservedOnly(reservation) };
  const used = Math.max(0, total - Number(freeBytes));
  const held = Math.min(used, Number(reservation?.residentBytes ?? 0n));
  const reserved = Number(reservation?.reservedBytes ?? 0n);
  const promised = Math.min(total - used, Math.max(0, reserved - held));
  const parts = [
    part('held', 'held by stages', held, total),
    part('promised', 'reserved, not loaded yet', promised, total),
    part('other', 'other programs', used - held, total),
    part('free', 'free', total - used - promised, total),
  ];
  return { ...shown, parts, summary: `${formatBytes(total - used - promised)} free of ${formatBytes(total)}` };
}

function part(kind: BarPart['kind'], label: string, bytes: number, total: number): BarPart {
  return { kind, label, share: bytes / total, figure: formatBytes(bytes) };
}

function reservedOnly(reservation: DeviceReservation | undefined): string {
  const reserved = reservation?.reservedBytes ?? 0n;
  return `size unknown${reserved > 0n ? `, ${formatBytes(reserved)} reserved` : ''}`;
}
