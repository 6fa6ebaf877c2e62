import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { migrations } from '../../../src/store/sqlite/migrations.js';
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.js';
import { StoreError } from '../../../src/store/store-error.js';
import { removableFolder } from '../../support/removable-folder.js';
import { createRunChanges } from '../sample-changes.js';

let folder: ReturnType<typeof removableFolder>;
let file: string;
beforeEach(() => {
  folder = removableFolder();
  file = join(folder.path, 'stageplane.db');
  const store = open();
  for (let count = 0; count < 20; count++) store.commit(createRunChanges(store.load().cluster, 16));
  store.close();
});
afterEach(() => folder.remove());

const open = () => openSqliteStore(folder.path, { newClusterId: () => 'never started empty' });

function refusal(use: () => unknown): StoreError {
  try {
    use();
  } catch (error) {
    if (error instanceof StoreError) return error;
    throw error;
  }
  throw new Error('it was not refused');
}

/** It is refused, the sentence says what to do, and the files are as they were. */
function expectRefusedAndUntouched(detail: string): void {
  const before = readFileSync(file);
  const error = refusal(open);
  expect(error.kind).toBe('corrupt');
  expect(error.message).toContain(`the database in the data folder ${folder.path} is damaged (`);
  expect(error.message).toContain(detail);
  expect(error.message).toContain(
    `\`stageplane restore FILE --data ${folder.path} --force\`, or move stageplane.db* out`,
  );
  expect(readFileSync(file).equals(before)).toBe(true);
}

test('a file that is no database is refused', () => {
  writeFileSync(file, 'A'.repeat(9000));
  expectRefusedAndUntouched('file is not a database');
});

test('an empty file is refused: SQLite would begin with nothing', () => {
  truncateSync(file, 0);
  expectRefusedAndUntouched('stageplane.db is empty');
});

test('a file that lost its end is refused', () => {
  truncateSync(file, 4096 * 3);
  expectRefusedAndUntouched('database disk image is malformed');
});

test.each([5, 9, 14])('a page of garbage (%i) is found when the database is opened', (page) => {
  const bytes = readFileSync(file);
  bytes.fill(0xa5, page * 4096, (page + 1) * 4096);
  writeFileSync(file, bytes);
  const error = refusal(open);
  expect(error.kind).toBe('corrupt');
});

test('a database of another program is refused', () => {
  rmSync(file);
  const other = new Database(file);
  other.exec('CREATE TABLE songs (title TEXT)');
  other.close();
  expectRefusedAndUntouched('not a database of stageplane');
});

test.each([
  ['no cluster', 'DELETE FROM cluster', 'it has no cluster'],
  ['a run without a plan', 'DELETE FROM plans WHERE run_id = 3', 'run 3 has no plan'],
  ['a message that cannot be read', "UPDATE plans SET planned = x'ffff'", ''],
])('a database with %s is refused by load', (_, sql, detail) => {
  const db = new Database(file);
  db.exec(sql);
  db.close();
  const store = open();
  const error = refusal(() => store.load());
  expect(error).toMatchObject({ kind: 'corrupt', message: expect.stringContaining(detail) });
  store.close();
});

test('a log whose database is gone is refused: it would be replayed into the new one', () => {
  const living = open();
  living.commit(createRunChanges(living.load().cluster));
  const copy = join(folder.path, 'restored');
  mkdirSync(copy);
  copyFileSync(`${file}-wal`, join(copy, 'stageplane.db-wal'));
  living.close();
  const error = refusal(() => openSqliteStore(copy, { newClusterId: () => 'never' }));
  expect(error).toMatchObject({ kind: 'corrupt', message: expect.stringContaining('stageplane.db-wal is there') });
  expect(readdirSync(copy)).toEqual(['stageplane.db-wal']);
});

test('a database of a newer version is refused by its number, and not touched', () => {
  const db = new Database(file);
  db.pragma('user_version = 99');
  db.close();
  const before = readFileSync(file);
  const error = refusal(open);
  expect(error.kind).toBe('newer-version');
  expect(error.message).toContain(
    `written by a newer stageplane (version 99; this one knows up to ${migrations.length})`,
  );
  expect(readFileSync(file).equals(before)).toBe(true);
});

test('a folder that is not there is named', () => {
  const missing = join(folder.path, 'missing');
  const error = refusal(() => openSqliteStore(missing, { newClusterId: () => 'never' }));
  expect(error).toMatchObject({ kind: 'io', message: expect.stringContaining(`${missing} cannot be read or written`) });
});

test('a program that holds the database is reported as such, and the commit can be repeated', () => {
  const store = open();
  const turn = createRunChanges(store.load().cluster);
  const browser = new Database(file);
  browser.exec('BEGIN IMMEDIATE');
  expect(refusal(() => store.commit(turn))).toMatchObject({ kind: 'locked' });
  browser.exec('ROLLBACK');
  store.commit(turn);
  expect(store.load().runs).toHaveLength(21);
  browser.close();
  store.close();
});
