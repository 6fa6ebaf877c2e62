import Database from 'better-sqlite3';
import { oneLine } from './one-line.js';

/** Reads a whole backup, and gives its revision. Throws with the code SQLITE_CORRUPT when it is damaged. */
export function checkBackup(file: string): bigint {
  const copy = new Database(file, { readonly: true, fileMustExist: true });
  try {
    copy.defaultSafeIntegers(true);
    const answer = copy.pragma('integrity_check(1)', { simple: true });
    if (answer !== 'ok') throw damaged(oneLine(answer));
    const revision = copy.prepare<[], bigint>('SELECT revision FROM cluster').pluck().get();
    if (revision === undefined) throw damaged('it has no cluster');
    return revision;
  } finally {
    copy.close();
  }
}

function damaged(detail: string): Error {
  return Object.assign(new Error(detail), { code: 'SQLITE_CORRUPT' });
}
