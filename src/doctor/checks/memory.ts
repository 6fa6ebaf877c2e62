import { freeMemory, totalMemory } from '../../agent/machine-memory.js';
import { formatBytes } from '../../core/format-bytes.js';
import { limits } from '../../core/limits.js';
import { bothRoles, type Check, ok, warning } from '../check.js';

export const memoryCheck: Check = {
  name: 'memory',
  roles: bothRoles,
  look: () => memoryFinding(freeMemory(), totalMemory()),
};

export function memoryFinding(free: bigint, total: bigint) {
  const message = `${formatBytes(free)} of ${formatBytes(total)} are free`;
  if (free >= limits.leastFreeMemoryBytes) return ok(message);
  return warning(message, 'end what else runs here, or expect stages to be refused');
}
