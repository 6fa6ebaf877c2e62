import { statfs } from 'node:fs/promises';
import { formatBytes } from '../../core/format-bytes.js';
import { limits } from '../../core/limits.js';
import { bothRoles, type Check, type Finding, failed, ok, warning } from '../check.js';
import { existingPart } from '../existing-part.js';

export const freeSpaceCheck: Check = {
  name: 'free space',
  roles: bothRoles,
  look: async ({ dataFolder }) => {
    const { bavail, bsize, files, ffree } = await statfs(existingPart(dataFolder), { bigint: true });
    // Some file systems have no bound on files and say 0 of 0.
    return freeSpaceFinding(bavail * bsize, files > 0n && ffree === 0n);
  },
};

export function freeSpaceFinding(bytes: bigint, noMoreFiles: boolean): Finding {
  const advice = 'free some space, or name a folder on another disk with --data';
  if (noMoreFiles) return failed('the disk of the data folder can hold no more files', advice);
  const message = `${formatBytes(bytes)} are free for the data folder`;
  if (bytes < limits.leastFreeDiskBytes) return failed(message, advice);
  return bytes < 10n * limits.leastFreeDiskBytes ? warning(message, advice) : ok(message);
}
