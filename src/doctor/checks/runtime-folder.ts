import { lstat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { limits } from '../../core/limits.js';
import {
  edgeRuntimeFolder,
  localSocket,
  ownEdgeFolder,
  refuseLongPath,
  runtimeFolderProblem,
  stageSocket,
} from '../../edge-gateway/runtime-folder.js';
import { adminSocketOf } from '../../orchestrator/admin-socket.js';
import { bothRoles, type Check, failed, ok } from '../check.js';

const ANY = '00000000';

export const runtimeFolderCheck: Check = {
  name: 'sockets',
  roles: bothRoles,
  look: async ({ role, dataFolder }) => {
    const own = ownEdgeFolder(ANY);
    // The longest that are usual: an id of a restored cluster, of a machine that has run for long.
    const longest = stageSocket(own, { runId: 999_999_999_999n, stageIndex: 511, generation: 99 });
    const long = refuseLongPath(longest) ?? refuseLongPath(localSocket(own));
    if (long) return failed('paths of sockets would be too long', long.message);
    const admin = adminSocketOf(dataFolder);
    if (role === 'orchestrator' && Buffer.byteLength(admin) > limits.socketPathBytes) {
      return failed(`the path ${admin} is too long for a socket`, 'name a folder with a shorter path with --data');
    }
    const folder = dirname(edgeRuntimeFolder(ANY));
    const found = await lstat(folder).catch(() => undefined);
    const problem = found && runtimeFolderProblem(folder);
    if (problem) return failed('the folder of edge sockets cannot be used', problem);
    return ok(`in ${folder}${found ? '' : ', which the first start makes'}`);
  },
};
