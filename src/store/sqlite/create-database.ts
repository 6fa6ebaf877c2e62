import { existsSync, renameSync, rmSync } from 'node:fs';
import Database from 'better-sqlite3';
import { makePrivate } from '../../process/private-file.js';
import { syncFolder } from '../../process/sync-folder.js';
import { firstCluster } from '../first-cluster.js';
import { StoreError } from '../store-error.js';
import { clusterRow } from './cluster-row.js';
import { databaseFiles } from './database-files.js';
import { createTables } from './migrate.js';

/**
 * Makes the database of a new cluster. It is built under another name and renamed when it is whole: hence a
 * `stageplane.db` that is empty or has no cluster is always damage, and never a reason to start with nothing.
 */
export function createDatabase(folder: string, newClusterId: () => string): void {
  const { database, log, unfinished, restoring } = databaseFiles(folder);
  if (existsSync(log)) {
    // SQLite would replay the old log into the new file: it checks the log's sums, not whose log it is.
    throw new StoreError('corrupt', folder, 'stageplane.db is missing, but its stageplane.db-wal is there');
  }
  if (existsSync(restoring)) {
    throw new StoreError('corrupt', folder, 'stageplane.db is missing, since a restore was cut off');
  }
  rmSync(unfinished, { force: true });
  rmSync(`${unfinished}-journal`, { force: true });
  makePrivate(unfinished);
  const db = new Database(unfinished);
  try {
    db.pragma('synchronous = FULL');
    db.transaction(() => {
      createTables(db);
      clusterRow(db).put(firstCluster(newClusterId()));
    }).immediate();
  } finally {
    db.close();
  }
  renameSync(unfinished, database);
  syncFolder(folder);
}
