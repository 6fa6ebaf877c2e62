import { prepareDataFolder } from '../process/data-folder.js';
import { lockFolder } from '../process/folder-lock.js';
import { backupProblem, type Restored, restoreDatabase } from '../store/sqlite/restore-database.js';

export interface RestoreRefusal {
  readonly kind: 'refused';
  readonly reason: string;
  readonly message: string;
}

/** Puts a backup into the data folder of an orchestrator that does not run. */
export function restore(file: string, dataFolder: string, force: boolean): Restored | RestoreRefusal {
  // First of all: a name that is misspelled must not leave a new folder.
  const problem = backupProblem(file);
  if (problem) return problem;
  const folder = prepareDataFolder(dataFolder);
  if (folder.kind === 'refused') return folder;
  const lock = lockFolder(folder.path);
  if (lock.kind === 'refused') return lock;
  try {
    return restoreDatabase(file, folder.path, force);
  } finally {
    lock.release();
  }
}
