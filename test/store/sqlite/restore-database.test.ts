import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runId } from '../../../src/core/ids.js';
import { backupProblem, restoreDatabase } from '../../../src/store/sqlite/restore-database.js';
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.js';
import { canMount, mountedFolder } from '../../support/mounted-folder.js';
import { removableFolder } from '../../support/removable-folder.js';
import { createRunChanges } from '../sample-changes.js';

let folder: ReturnType<typeof removableFolder>;
let file: string;
let data: string;
beforeEach(async () => {
  folder = removableFolder();
  file = join(folder.path, 'backup');
  data = join(folder.path, 'data');
  mkdirSync(data);
  const source = join(folder.path, 'source');
  mkdirSync(source);
  const store = open(source);
  store.commit(createRunChanges(store.load().cluster));
  writeFileSync(file, '');
  await store.backup(file, { signal: new AbortController().signal, onProgress: () => {} });
  store.close();
});
afterEach(() => folder.remove());

const open = (where: string) => openSqliteStore(where, { newClusterId: () => 'never started empty' });

/** A data folder whose newest commit is in its log alone, as after kill -9. */
function leaveDatabase(): void {
  const living = join(folder.path, 'living');
  mkdirSync(living);
  const store = open(living);
  for (let count = 0; count < 3; count++) store.commit(createRunChanges(store.load().cluster));
  for (const name of readdirSync(living)) copyFileSync(join(living, name), join(data, name));
  store.close();
}

test('a backup is put into an empty folder, and stays as it is', () => {
  const before = readFileSync(file);
  expect(restoreDatabase(file, data, false)).toEqual({ kind: 'restored', revision: 1n, replaced: [] });
  expect(readdirSync(data)).toEqual(['stageplane.db']);
  expect(statSync(join(data, 'stageplane.db')).mode & 0o777).toBe(0o600);
  const store = open(data);
  expect(store.isBackup).toBe(true);
  expect(store.load().runs.map((run) => run.runId)).toEqual([1n]);
  store.close();
  expect(readFileSync(file).equals(before)).toBe(true);
});

test('a database that is there is replaced only by force, and kept whole under other names', () => {
  leaveDatabase();
  const before = Object.fromEntries(readdirSync(data).map((name) => [name, readFileSync(join(data, name))]));
  expect(restoreDatabase(file, data, false)).toMatchObject({ kind: 'refused', reason: 'has-database' });
  for (const [name, bytes] of Object.entries(before)) expect(readFileSync(join(data, name)).equals(bytes)).toBe(true);

  const restored = restoreDatabase(file, data, true);
  if (restored.kind === 'refused') throw new Error(restored.message);
  expect(restored.replaced).toHaveLength(2);
  const store = open(data);
  expect(store.load().runs).toHaveLength(1);
  store.close();
  const old = join(folder.path, 'old');
  mkdirSync(old);
  for (const path of restored.replaced) {
    copyFileSync(path, join(old, path.includes('-wal') ? 'stageplane.db-wal' : 'stageplane.db'));
  }
  const again = open(old);
  expect(again.load().runs).toHaveLength(3);
  again.close();
});

test('a plain copy of a database at rest is taken too, and counts as a backup', () => {
  copyFileSync(join(folder.path, 'source', 'stageplane.db'), file);
  expect(restoreDatabase(file, data, false).kind).toBe('restored');
  const store = open(data);
  expect(store.isBackup).toBe(true);
  store.close();
});

test('cut off at its worst moment, the folder is refused at a start, and the restore may be repeated', () => {
  copyFileSync(file, join(data, 'stageplane.db.restoring'));
  expect(() => open(data)).toThrow(
    /missing, since a restore was cut off\): put a backup in its place with `stageplane restore/,
  );
  expect(restoreDatabase(file, data, false).kind).toBe('restored');
  expect(readdirSync(data)).toEqual(['stageplane.db']);
});

test.each<[string, (path: string) => void, RegExp]>([
  [
    'that is missing',
    (path) => rmSync(path),
    /^there is no file .*backup: name a backup that `stageplane backup` has made$/,
  ],
  [
    'that is a folder',
    (path) => {
      rmSync(path);
      mkdirSync(path);
    },
    /is no file: name a backup/,
  ],
  ['that is something else', (path) => writeFileSync(path, 'x'.repeat(5000)), /is no backup of stageplane: name one/],
  ['that is empty', (path) => truncateSync(path, 0), /is no backup of stageplane/],
  [
    'of another program',
    (path) => {
      rmSync(path);
      new Database(path).exec('CREATE TABLE songs (title TEXT)').close();
    },
    /is no backup of stageplane/,
  ],
  [
    'of a newer version',
    (path) => new Database(path).exec('PRAGMA user_version = 99').close(),
    /newer stageplane \(version 99; this one knows up to \d+\): install that version$/,
  ],
  ['whose log lies beside it', (path) => writeFileSync(`${path}-wal`, 'frames'), /has a log beside it \(backup-wal\)/],
])('a file %s is refused before anything is made', (_, spoil, sentence) => {
  spoil(file);
  expect(backupProblem(file)?.message).toMatch(sentence);
});

test.each<[string, () => void]>([
  ['lost its end', () => truncateSync(file, 4096 * 5)],
  ['has a page of garbage', () => spoilPage(4)],
  ['has no cluster', () => new Database(file).exec('DELETE FROM cluster').close()],
])('a backup that %s is refused, and the folder is as before', (_, spoil) => {
  leaveDatabase();
  spoil();
  const before = readdirSync(data);
  expect(restoreDatabase(file, data, true)).toMatchObject({
    kind: 'refused',
    message: expect.stringMatching(/backup is damaged \(.+\): restore another backup$/),
  });
  expect(readdirSync(data)).toEqual(before);
  const store = open(data);
  expect(store.load().runs.at(-1)?.runId).toBe(runId(3n));
  store.close();
});

test('on a full disk nothing is left, and the folder may be tried again', (context) => {
  if (!canMount()) context.skip('needs root and mount(8) for a file system of its own');
  const mounted = mountedFolder('size=32k');
  try {
    const refused = restoreDatabase(file, mounted.path, false);
    expect(refused).toMatchObject({ kind: 'refused', reason: 'disk-full' });
    expect(readdirSync(mounted.path)).toEqual([]);
    mounted.remount('size=4m');
    expect(restoreDatabase(file, mounted.path, false).kind).toBe('restored');
    expect(existsSync(join(mounted.path, 'stageplane.db'))).toBe(true);
  } finally {
    mounted.remove();
  }
});

function spoilPage(page: number): void {
  const bytes = readFileSync(file);
  bytes.fill(0xa5, page * 4096, (page + 1) * 4096);
  writeFileSync(file, bytes);
}
