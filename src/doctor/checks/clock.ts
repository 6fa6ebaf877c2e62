import { statSync } from 'node:fs';
import { limits } from '../../core/limits.js';
import { packageRoot } from '../../package-root.js';
import { bothRoles, type Check, ok, warning } from '../check.js';

/** Nothing is decided by this clock, but people compare times, and certificates will. */
export const clockCheck: Check = {
  name: 'clock',
  roles: bothRoles,
  look: () => clockFinding(Date.now(), statSync(packageRoot()).mtimeMs),
};

/** @param installed when this program came to the machine; milliseconds since 1970, both */
export function clockFinding(now: number, installed: number) {
  const shown = new Date(now).toISOString();
  if (now + limits.clockDifferenceMillis >= installed) return ok(shown);
  const message = `it is ${shown}, which is before stageplane was installed`;
  return warning(message, 'set the clock, and let the system keep it by NTP');
}
