import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { TextDoneReason } from '../../../gen/stageplane/v1/token_endpoint.js';
import { runId } from '../../../src/core/ids.js';
import { openDatabase } from '../../../src/store/sqlite/open-database.js';
import { SqliteStore } from '../../../src/store/sqlite/sqlite-store.js';
import { removableFolder } from '../../support/removable-folder.js';
import { changesOf, createRunChanges, sampleAnswer, sampleEvent } from '../sample-changes.js';

let folder: ReturnType<typeof removableFolder>;
beforeEach(() => {
  folder = removableFolder();
});
afterEach(() => folder.remove());

const open = () => openDatabase(folder.path, () => 'cluster');

test('the settings that the file does not keep are made at every open', () => {
  open().close();
  const db = open();
  const read = (pragma: string) => db.pragma(pragma, { simple: true });
  expect(read('journal_mode')).toBe('wal');
  expect(read('synchronous')).toBe(2n);
  expect(read('foreign_keys')).toBe(1n);
  expect(read('busy_timeout')).toBe(1000n);
  expect(read('wal_autocheckpoint')).toBe(16_384n);
  db.close();
});

test('every table is strict', () => {
  const db = open();
  const tables = db.pragma('table_list') as { name: string; strict: bigint }[];
  const own = tables.filter(({ name }) => !name.startsWith('sqlite_'));
  expect(own.map(({ name }) => name).sort()).toEqual([
    'answers',
    'api_keys',
    'audit',
    'causes',
    'certificates',
    'cluster',
    'events',
    'footprints',
    'nodes',
    'plans',
    'remnants',
    'requests',
    'restarts',
    'runs',
    'stages',
    'tokens',
  ]);
  expect(own.every(({ strict }) => strict === 1n)).toBe(true);
  db.close();
});

test('the queries of the loop use an index', () => {
  const db = open();
  const steps = (sql: string) =>
    (db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { detail: string }[]).map((s) => s.detail);
  const events = steps('SELECT event FROM events WHERE run_id = 1 AND revision > 2 ORDER BY revision LIMIT 3');
  expect(events).toEqual([expect.stringContaining('USING INDEX events_of_run')]);
  db.close();
});

test('a turn writes the stage that moved, and the plan once per generation', () => {
  const db = open();
  const store = new SqliteStore(db, folder.path);
  const created = createRunChanges(store.load().cluster, 8);
  store.commit(created);
  const run = created.runs[0]!.after;
  const rowsWritten = (write: () => void): bigint => {
    const count = db.prepare<[], bigint>('SELECT total_changes()').pluck();
    const before = count.get()!;
    write();
    return count.get()! - before;
  };

  const moved = { ...run, stages: run.stages.with(3, { ...run.stages[3]!, phase: 'SENT' as const }) };
  const events = [sampleEvent(runId(1n), moved.revision)].map((event) => ({ ...event, revision: 2n }));
  const oneStage = changesOf(created.cluster, { runs: [{ before: run, after: moved }], events });
  // Cluster, run, stage, event.
  expect(rowsWritten(() => store.commit(oneStage))).toBe(4n);

  const again = { ...moved, generation: 2, plan: { ...moved.plan } };
  // Cluster, run, the new plan and its 8 stages; the old plan and its 8 stages go.
  const newGeneration = changesOf(created.cluster, { runs: [{ before: moved, after: again }] });
  expect(rowsWritten(() => store.commit(newGeneration))).toBe(20n);
  expect(db.prepare('SELECT generation FROM plans').pluck().all()).toEqual([2n]);
  expect(db.prepare('SELECT count(*) FROM stages').pluck().get()).toBe(8n);
  expect(store.load().runs[0]).toEqual(again);
  store.close();
});

test('deleting a run leaves no row of it but its request', () => {
  const db = open();
  const store = new SqliteStore(db, folder.path);
  const created = createRunChanges(store.load().cluster);
  store.commit(created);
  const answer = sampleAnswer('Once', TextDoneReason.TEXT_DONE_REASON_MAX_TOKENS);
  store.commit(changesOf(created.cluster, { answers: [{ runId: runId(1n), answer }] }));
  store.commit(changesOf(created.cluster, { deletedRuns: [runId(1n)] }));
  for (const table of ['runs', 'causes', 'plans', 'stages', 'events', 'answers']) {
    expect([table, db.prepare(`SELECT count(*) FROM ${table}`).pluck().get()]).toEqual([table, 0n]);
  }
  expect(db.prepare('SELECT run_id FROM requests').pluck().all()).toEqual([1n]);
  store.close();
});

test('a creation that was cut off is begun anew and leaves nothing behind', () => {
  const half = new Database(join(folder.path, 'stageplane.db.new'));
  half.exec('CREATE TABLE half (made INTEGER)');
  half.close();
  open().close();
  expect(readdirSync(folder.path)).toEqual(['stageplane.db']);
});

test('a checkpoint moves the log into the database, so that it does not grow', () => {
  const store = new SqliteStore(open(), folder.path);
  store.commit(createRunChanges(store.load().cluster));
  store.checkpoint();
  const log = new Database(join(folder.path, 'stageplane.db'), { readonly: true });
  const [answer] = log.pragma('wal_checkpoint(NOOP)') as { log: number; checkpointed: number }[];
  expect(answer?.checkpointed).toBe(answer?.log);
  log.close();
  store.close();
  expect(existsSync(join(folder.path, 'stageplane.db-wal'))).toBe(false);
});
