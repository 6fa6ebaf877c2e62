import { closeSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import { APPLICATION_ID, BACKUP_ID } from './migrate.js';

// Offsets of SQLite's "Database File Format": read and written where nobody has the file open, so that no log appears beside it.
const MAGIC = 'SQLite format 3\0';
const JOURNAL_AT = 18;
const VERSION_AT = 60;
const APPLICATION_AT = 68;
const HEADER_BYTES = 100;

/** The version of a database of ours, in use or a backup; undefined for any other file. Reads only. */
export function headerVersion(file: string): number | undefined {
  const header = Buffer.alloc(HEADER_BYTES);
  const descriptor = openSync(file, 'r');
  try {
    if (readSync(descriptor, header, 0, HEADER_BYTES, 0) < HEADER_BYTES) return undefined;
  } finally {
    closeSync(descriptor);
  }
  const isOurs = [APPLICATION_ID, BACKUP_ID].includes(header.readUInt32BE(APPLICATION_AT));
  return isOurs && header.toString('latin1', 0, MAGIC.length) === MAGIC ? header.readUInt32BE(VERSION_AT) : undefined;
}

/** Makes a database that nobody has open a backup: one file, without a log, that is marked as such. It is on the disk then. */
export function markAsBackup(file: string): void {
  const id = Buffer.alloc(4);
  id.writeUInt32BE(BACKUP_ID);
  const descriptor = openSync(file, 'r+');
  try {
    writeSync(descriptor, Buffer.from([1, 1]), 0, 2, JOURNAL_AT);
    writeSync(descriptor, id, 0, id.length, APPLICATION_AT);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
