import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { TextDoneReason } from '../../../gen/stageplane/v1/token_endpoint.js';
import { runId } from '../../../src/core/ids.js';
import { backupDatabase } from '../../../src/store/sqlite/backup-database.js';
import { openSqliteStore, type SqliteStore } from '../../../src/store/sqlite/sqlite-store.js';
import { removableFolder } from '../../support/removable-folder.js';
import { createRunChanges, sampleAnswer } from '../sample-changes.js';

const RUNS = 24;

let folder: ReturnType<typeof removableFolder>;
let store: SqliteStore;
let file: string;
beforeEach(() => {
  folder = removableFolder();
  store = openSqliteStore(folder.path, { newClusterId: () => 'cluster' });
  // Large enough for several steps.
  const answer = sampleAnswer('a'.repeat(1024 * 1024), TextDoneReason.TEXT_DONE_REASON_MAX_TOKENS);
  for (let count = 1; count <= RUNS; count++) {
    const turn = createRunChanges(store.load().cluster);
    store.commit({ ...turn, answers: [{ runId: runId(BigInt(count)), answer }] });
  }
  file = join(folder.path, 'copy');
  writeFileSync(file, '');
});
afterEach(() => {
  store.close();
  folder.remove();
});

const { signal } = new AbortController();

test('commits go on while a backup is made; it is of the moment at which it began, and one file', async () => {
  const { revision } = store.load().cluster;
  let during = 0;
  const onProgress = (done: number, total: number) => {
    expect(done).toBeLessThanOrEqual(total);
    store.commit(createRunChanges(store.load().cluster));
    // Not even a checkpoint may move what the backup reads.
    store.checkpoint();
    during += 1;
  };
  expect(await store.backup(file, { signal, onProgress })).toMatchObject({ kind: 'made', revision });
  expect(during).toBeGreaterThan(1);
  const copy = new Database(file, { readonly: true });
  expect(copy.prepare('SELECT max(run_id) AS last, count(*) AS runs FROM runs').get()).toEqual({
    last: RUNS,
    runs: RUNS,
  });
  expect(copy.pragma('journal_mode', { simple: true })).toBe('delete');
  copy.close();
  expect(readdirSync(folder.path).filter((name) => name.startsWith('copy'))).toEqual(['copy']);
  expect(store.load().runs).toHaveLength(RUNS + during);
});

test('a backup that is cancelled on its way ends at the next step', async () => {
  const stop = new AbortController();
  const onProgress = () => stop.abort();
  expect(await store.backup(file, { signal: stop.signal, onProgress })).toEqual({ kind: 'cancelled' });
});

test('a damaged database makes no backup', async () => {
  const database = join(folder.path, 'stageplane.db');
  store.close();
  const bytes = readFileSync(database);
  bytes.fill(0xa5, 4 * 4096, 5 * 4096);
  writeFileSync(database, bytes);
  const outcome = await backupDatabase(database, file, { signal, onProgress: () => {} });
  expect(outcome).toMatchObject({ kind: 'failed', code: 'SQLITE_CORRUPT' });
});
