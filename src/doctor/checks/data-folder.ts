import { access, constants, lstat, stat } from 'node:fs/promises';
import { bothRoles, type Check, failed, ok, warning } from '../check.js';

export const dataFolderCheck: Check = {
  name: 'data folder',
  roles: bothRoles,
  look: async ({ dataFolder }) => {
    const found = await stat(dataFolder).catch(() => undefined);
    if (!found) {
      const dangling = await lstat(dataFolder).catch(() => undefined);
      if (dangling) return failed(`${dataFolder} is a link to nothing`, 'remove it, or make what it names');
      return ok(`${dataFolder} is not there yet; the first start makes it`);
    }
    if (!found.isDirectory()) return failed(`${dataFolder} is no folder`, 'move it, or name another with --data');
    const mode = (found.mode & 0o777).toString(8);
    if (process.getuid && found.uid !== process.getuid() && process.getuid() !== 0) {
      return failed(
        `${dataFolder} belongs to user ${found.uid}, not to this one`,
        `chown it, or name another with --data`,
      );
    }
    try {
      await access(dataFolder, constants.R_OK | constants.W_OK | constants.X_OK);
    } catch (error) {
      const advice = `mount it writable or run chmod 700 ${dataFolder}, or name another with --data`;
      return failed(`${dataFolder} cannot be written (${(error as Error).message})`, advice);
    }
    if ((found.mode & 0o077) === 0) return ok(`${dataFolder}, for its owner alone`);
    return warning(`${dataFolder} has mode ${mode}: other users reach what is in it`, `run chmod 700 ${dataFolder}`);
  },
};
