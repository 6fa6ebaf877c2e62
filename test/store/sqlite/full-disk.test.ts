import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDatabase } from '../../../src/store/sqlite/open-database.js';
import { openSqliteStore, SqliteStore } from '../../../src/store/sqlite/sqlite-store.js';
import { StoreError } from '../../../src/store/store-error.js';
import { canMount, mountedFolder } from '../../support/mounted-folder.js';
import { removableFolder } from '../../support/removable-folder.js';
import { createRunChanges, sampleNode } from '../sample-changes.js';

function kindOf(use: () => void): StoreError['kind'] | 'committed' {
  try {
    use();
    return 'committed';
  } catch (error) {
    if (error instanceof StoreError) return error.kind;
    throw error;
  }
}

test('a turn that finds the disk full at any of its pages leaves the store as before', () => {
  const folder = removableFolder();
  const db = openDatabase(folder.path, () => 'cluster');
  const store = new SqliteStore(db, folder.path);
  store.commit(createRunChanges(store.load().cluster, 64));
  const before = store.load();
  const nodes = Array.from({ length: 40 }, (_, index) => sampleNode(BigInt(index) + 2n));
  const turn = { ...createRunChanges(before.cluster, 512), nodes };

  // One page more at each attempt, until the turn has room.
  let full = 0;
  for (let pages = Number(db.pragma('page_count', { simple: true })); ; pages++) {
    db.pragma(`max_page_count = ${pages}`);
    const kind = kindOf(() => store.commit(turn));
    if (kind === 'committed') break;
    expect(kind).toBe('disk-full');
    expect(store.load()).toEqual(before);
    full++;
  }
  expect(full).toBeGreaterThan(5);
  expect(store.load().nodes).toEqual(nodes);
  expect(store.load().runs[1]).toEqual(turn.runs[0]?.after);
  store.close();
  folder.remove();
});

test('on a file system that is really full nothing is committed, and all goes on when there is room', (context) => {
  if (!canMount()) context.skip('needs root and mount(8) for a file system of its own');
  const folder = mountedFolder('size=1m');
  try {
    const store = openSqliteStore(folder.path, { newClusterId: () => 'cluster' });
    store.commit(createRunChanges(store.load().cluster));
    const filler = join(folder.path, 'filler');
    fillUp(filler);
    // What lies in the log already may be overwritten without room, so several turns may still fit.
    let turn = createRunChanges(store.load().cluster, 64);
    let kind = kindOf(() => store.commit(turn));
    for (let count = 0; kind === 'committed' && count < 100; count++) {
      turn = createRunChanges(store.load().cluster, 64);
      kind = kindOf(() => store.commit(turn));
    }
    expect(kind).toBe('disk-full');
    const { runs } = store.load();
    expect(runs.some((run) => run.runId === turn.runs[0]?.after.runId)).toBe(false);

    rmSync(filler);
    store.commit(turn);
    store.close();
    const reopened = openSqliteStore(folder.path, { newClusterId: () => 'another' });
    expect(reopened.load().runs).toEqual([...runs, turn.runs[0]?.after]);
    reopened.close();
  } finally {
    folder.remove();
  }
});

test('a new cluster on a full file system is refused and leaves nothing half made', (context) => {
  if (!canMount()) context.skip('needs root and mount(8) for a file system of its own');
  const folder = mountedFolder('size=64k');
  try {
    fillUp(join(folder.path, 'filler'));
    const open = () => openSqliteStore(folder.path, { newClusterId: () => 'cluster' });
    expect(kindOf(() => void open())).toBe('disk-full');
    expect(execFileSync('ls', [folder.path], { encoding: 'utf8' })).not.toMatch(/^stageplane\.db$/m);
  } finally {
    folder.remove();
  }
});

function fillUp(path: string): void {
  try {
    for (;;) writeFileSync(path, Buffer.alloc(4096), { flag: 'a' });
  } catch (error) {
    expect((error as NodeJS.ErrnoException).code).toBe('ENOSPC');
  }
}
