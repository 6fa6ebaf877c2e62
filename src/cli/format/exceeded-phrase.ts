import type { ReservationExceeded } from '../../../gen/stageplane/v1/run.js';
import { formatBytes } from '../../core/format-bytes.js';

/** `holds 1.3 GiB, more than the 1.0 GiB that the plan reserved` */
export function exceededPhrase({ deviceBytes, reservedBytes }: ReservationExceeded): string {
  return `holds ${formatBytes(deviceBytes)}, more than the ${formatBytes(reservedBytes)} that the plan reserved`;
}
