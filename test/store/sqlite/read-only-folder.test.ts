import { chmodSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDatabase } from '../../../src/store/sqlite/open-database.js';
import { openSqliteStore, SqliteStore } from '../../../src/store/sqlite/sqlite-store.js';
import { canMount, mountedFolder } from '../../support/mounted-folder.js';
import { removableFolder } from '../../support/removable-folder.js';
import { createRunChanges } from '../sample-changes.js';

const newClusterId = () => 'cluster';

test('a database that cannot be written is refused when it is opened', (context) => {
  const root = process.getuid?.() === 0;
  if (root && !canMount())
    context.skip('root may write everywhere but on a read-only mount, and mount(8) is not allowed');
  const folder = root
    ? mountedFolder('size=1m')
    : { ...removableFolder(), makeReadOnly: () => makeReadOnly(folder.path) };
  try {
    openSqliteStore(folder.path, { newClusterId }).close();
    folder.makeReadOnly();
    const sentence = `the data folder ${folder.path} is read-only: make it writable for this user, or name another`;
    expect(() => openSqliteStore(folder.path, { newClusterId })).toThrow(sentence);
  } finally {
    if (!root) chmodSync(folder.path, 0o700);
    folder.remove();
  }
});

test('a new cluster in a folder that cannot be written is refused', (context) => {
  const root = process.getuid?.() === 0;
  if (root && !canMount())
    context.skip('root may write everywhere but on a read-only mount, and mount(8) is not allowed');
  const folder = root
    ? mountedFolder('size=1m')
    : { ...removableFolder(), makeReadOnly: () => makeReadOnly(folder.path) };
  try {
    folder.makeReadOnly();
    expect(() => openSqliteStore(folder.path, { newClusterId })).toThrow(`${folder.path} is read-only`);
    expect(readdirSync(folder.path)).toEqual([]);
  } finally {
    if (!root) chmodSync(folder.path, 0o700);
    folder.remove();
  }
});

test('a commit that finds the database read-only says so and changes nothing', () => {
  const folder = removableFolder();
  const db = openDatabase(folder.path, newClusterId);
  const store = new SqliteStore(db, folder.path);
  const before = store.load();
  const turn = createRunChanges(before.cluster);
  db.pragma('query_only = ON');
  expect(() => store.commit(turn)).toThrow(expect.objectContaining({ kind: 'read-only' }));
  db.pragma('query_only = OFF');
  expect(store.load()).toEqual(before);
  store.close();
  folder.remove();
});

function makeReadOnly(folder: string): void {
  for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o400);
  chmodSync(folder, 0o500);
}
