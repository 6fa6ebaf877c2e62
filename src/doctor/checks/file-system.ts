import { statfs } from 'node:fs/promises';
import { bothRoles, type Check, type Finding, ok, skipped, warning } from '../check.js';
import { existingPart } from '../existing-part.js';

/** Numbers of Linux, see statfs(2): where locks, or the log that SQLite shares between processes, are known to fail. */
const shared: Readonly<Record<number, string>> = {
  26985: 'NFS',
  20859: 'SMB',
  4283649346: 'SMB',
  4266872130: 'CIFS',
  16914839: '9P, as of virtual machines',
  1702057286: 'FUSE',
};

export const fileSystemCheck: Check = {
  name: 'file system',
  roles: bothRoles,
  look: async ({ dataFolder }) => {
    if (process.platform !== 'linux') return skipped('this system does not tell what it is');
    const { type } = await statfs(existingPart(dataFolder));
    return fileSystemFinding(type, dataFolder);
  },
};

export function fileSystemFinding(type: number, folder: string): Finding {
  const name = shared[type];
  if (name === undefined) return ok('local, so locks and the log of the database can be relied on');
  const message = `${folder} is on ${name}, where locks may not hold and a crash may lose what was committed`;
  return warning(message, 'name a folder on a disk of this machine with --data');
}
