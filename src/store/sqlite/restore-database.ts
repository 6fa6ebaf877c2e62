import { chmodSync, copyFileSync, existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { type FileRefusal, fileRefusalOf } from '../../process/file-refusal.js';
import { syncFolder } from '../../process/sync-folder.js';
import { checkBackup } from './check-backup.js';
import { databaseFiles } from './database-files.js';
import { headerVersion, markAsBackup } from './database-header.js';
import { migrations } from './migrations.js';

export interface Restored {
  readonly kind: 'restored';
  readonly revision: bigint;
  /** Paths of what was there before, moved out of the way. */
  readonly replaced: readonly string[];
}

/**
 * Puts a backup into a data folder whose lock the caller holds. The database that is there is moved aside, never removed,
 * and only with `force`. Cut off anywhere, the folder has the old database, the new one, or is refused at a start: never
 * an empty cluster, nor an old log beside the new database.
 *
 * @param file without a `backupProblem`; stays as it is
 */
export function restoreDatabase(file: string, folder: string, force: boolean): Restored | FileRefusal {
  const { database, log, restoring } = databaseFiles(folder);
  try {
    if (!force && (existsSync(database) || existsSync(log))) {
      const advice = 'name an empty folder, or replace it with --force, which keeps the old files under other names';
      return refuse('has-database', `the data folder ${folder} has a database already: ${advice}`);
    }
    const revision = takeIn(file, restoring);
    // From here on it is the only one that has its name to come: a start without it would be an empty cluster.
    const replaced = moveAside([database, log]);
    rmSync(`${database}-shm`, { force: true });
    renameSync(restoring, database);
    syncFolder(folder);
    return { kind: 'restored', revision, replaced };
  } catch (error) {
    if ((error as { code?: unknown }).code === undefined) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    if (!/^SQLITE_(CORRUPT|NOTADB)/.test(String(code))) return fileRefusalOf(error, restoring);
    return refuse('bad-backup', `${file} is damaged (${message}): restore another backup`);
  }
}

/** What is wrong with a backup before anybody copies it, as a sentence that says what to do. */
export function backupProblem(file: string): FileRefusal | undefined {
  const problem = problemOf(file);
  return problem === undefined ? undefined : refuse('bad-backup', problem);
}

function problemOf(file: string): string | undefined {
  const found = statSync(file, { throwIfNoEntry: false });
  if (!found) return `there is no file ${file}: name a backup that \`stageplane backup\` has made`;
  if (!found.isFile()) return `${file} is no file: name a backup that \`stageplane backup\` has made`;
  const version = headerVersion(file);
  if (version === undefined) return `${file} is no backup of stageplane: name one that \`stageplane backup\` has made`;
  if (version > migrations.length) {
    return `${file} was written by a newer stageplane (version ${version}; this one knows up to ${migrations.length}): install that version`;
  }
  const log = statSync(`${file}-wal`, { throwIfNoEntry: false });
  if (log && log.size > 0) {
    return `${file} has a log beside it (${basename(file)}-wal), without which it is not whole: make a backup with \`stageplane backup\``;
  }
  return undefined;
}

/** Copies and checks it. Gives its revision. */
function takeIn(file: string, restoring: string): bigint {
  rmSync(restoring, { force: true });
  try {
    copyFileSync(file, restoring);
    chmodSync(restoring, 0o600);
    // Also a plain copy of a folder at rest: what came after it is lost just as well.
    markAsBackup(restoring);
    return checkBackup(restoring);
  } catch (error) {
    rmSync(restoring, { force: true });
    throw error;
  }
}

function moveAside(files: readonly string[]): string[] {
  const suffix = `replaced-${new Date().toISOString().replace(/\D/g, '')}`;
  return files.filter(existsSync).map((file) => {
    const aside = `${file}.${suffix}`;
    renameSync(file, aside);
    return aside;
  });
}

function refuse(reason: string, message: string): FileRefusal {
  return { kind: 'refused', reason, message };
}
