import { readFile } from 'node:fs/promises';
import { limits } from '../../core/limits.js';
import { bothRoles, type Check, type Finding, ok, skipped, warning } from '../check.js';

export const openFilesCheck: Check = {
  name: 'open files',
  roles: bothRoles,
  look: async () => {
    if (process.platform !== 'linux') return skipped('this system does not tell a process its limits');
    return openFilesFinding(await readFile('/proc/self/limits', 'utf8'));
  },
};

/** @param text of /proc/self/limits */
export function openFilesFinding(text: string): Finding {
  // Node raises the soft limit to the hard one at its start.
  const [, hard = ''] = /^Max open files\s+\S+\s+(\S+)/m.exec(text) ?? [];
  if (hard === 'unlimited' || Number(hard) >= limits.leastOpenFiles) return ok(`a process may have ${hard}`);
  const message = `a process may have ${hard || 'an unknown number'}, and a large pool needs ${limits.leastOpenFiles}`;
  return warning(message, 'raise it with ulimit -n, or LimitNOFILE= of a systemd unit');
}
