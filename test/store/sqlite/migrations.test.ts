import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Run, RunEvent, StageFault, StageFaultReason } from '../../../gen/stageplane/v1/run.js';
import { TextDoneReason } from '../../../gen/stageplane/v1/token_endpoint.js';
import { revision, runId } from '../../../src/core/ids.js';
import { migrations } from '../../../src/store/sqlite/migrations.js';
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.js';
import { removableFolder } from '../../support/removable-folder.js';
import { changesOf, sampleAnswer, sampleEvent, sampleRun } from '../sample-changes.js';

let folder: ReturnType<typeof removableFolder>;
beforeEach(() => {
  folder = removableFolder();
});
afterEach(() => folder.remove());

const run = sampleRun(runId(1n), revision(3n), 2);
const open = () => openSqliteStore(folder.path, { newClusterId: () => 'another' });

/** The database of a version before answers, fidelity and footprints, with something in every table. */
function writeVersion1(): void {
  const db = new Database(join(folder.path, 'stageplane.db'));
  db.exec(migrations[0]!);
  db.pragma(`application_id = ${0x53_50_4c_4e}`);
  db.pragma('user_version = 1');
  const insert = (table: string, ...values: unknown[]) =>
    db.prepare(`INSERT INTO ${table} VALUES (${values.map(() => '?').join(', ')})`).run(...values);
  insert('cluster', 1, 'cluster', 4n, 3n, 2n, 4n);
  insert('nodes', 2n, 'alpha', 'instance', 0, Buffer.from([]), 1n, 1n);
  insert('runs', 1n, run.requestId, run.mode, 'TEARING_DOWN', 'FAULTED', 1, BigInt(run.createdAt), 3n);
  const { plan, settings } = run;
  insert(
    'plans',
    1n,
    1,
    run.planId,
    Buffer.from(Run.encode({ ...Run.create(), plan, settings: [...settings] }).finish()),
  );
  const gone = StageFault.create({ reason: StageFaultReason.STAGE_FAULT_REASON_WORKER_GONE, message: 'gone' });
  insert('causes', 1n, Buffer.from(StageFault.encode(gone).finish()), 1, 3n, 'agent', 3n, 1);
  for (const { index, nodeId } of run.stages) insert('stages', 1n, 1, index, nodeId, 'STOPPING', null, null);
  const event = sampleEvent(runId(1n), revision(3n));
  insert('events', 3n, 1n, Buffer.from(RunEvent.encode(event).finish()));
  insert('requests', run.requestId, 'digest', 1n);
  db.close();
}

test('a database of the version before answers keeps all it had, and takes them from now on', () => {
  writeVersion1();
  const store = open();
  const world = store.load();
  expect(world.cluster).toEqual({
    clusterId: 'cluster',
    epoch: 4n,
    revision: 3n,
    nextRunId: 2n,
    nextNodeId: 4n,
    goneNodeId: 1n,
  });
  expect(world.nodes).toMatchObject([{ nodeId: 2n, name: 'alpha' }]);
  const stages = run.stages.map((stage) => ({ ...stage, phase: 'STOPPING' }));
  const known = { ...run, phase: 'TEARING_DOWN', outcome: 'FAULTED', fidelity: '', stages };
  expect(world.runs).toMatchObject([{ ...known, cause: { stageIndex: 1, fixed: true, fault: { message: 'gone' } } }]);
  expect(world.requests).toEqual([{ requestId: run.requestId, digest: 'digest', runId: 1n }]);
  expect(store.runEvents(runId(1n), revision(0n), 10)).toEqual([sampleEvent(runId(1n), revision(3n))]);

  expect(store.answer(runId(1n))).toBeUndefined();
  const answer = sampleAnswer('Once', TextDoneReason.TEXT_DONE_REASON_UNAVAILABLE);
  expect(world.footprints).toEqual([]);
  const footprints = [{ key: 'a stage', deviceBytes: 5n, revision: revision(3n) }];
  store.commit(changesOf(world.cluster, { answers: [{ runId: runId(1n), answer }], footprints }));
  store.close();
  const again = open();
  expect(again.load()).toEqual({ ...world, footprints });
  expect(again.answer(runId(1n))).toEqual(answer);
  again.close();
});

test('a new database and one that was brought here have the same tables', () => {
  writeVersion1();
  open().close();
  const brought = tablesOf(folder.path);
  const fresh = removableFolder();
  openSqliteStore(fresh.path, { newClusterId: () => 'another' }).close();
  expect(brought).toEqual(tablesOf(fresh.path));
  fresh.remove();
});

function tablesOf(path: string): unknown {
  const db = new Database(join(path, 'stageplane.db'), { readonly: true });
  const tables = db.prepare('SELECT name, sql FROM sqlite_schema ORDER BY name').all();
  const version = db.pragma('user_version');
  db.close();
  return { tables, version };
}
