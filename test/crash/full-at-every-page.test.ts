import { cpSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { TextDoneReason } from '../../gen/stageplane/v1/token_endpoint.js';
import { revision, runId } from '../../src/core/ids.js';
import type { Changes } from '../../src/core/machine/changes.js';
import type { StoredWorld } from '../../src/core/machine/state.js';
import { openSqliteStore, type SqliteStore } from '../../src/store/sqlite/sqlite-store.js';
import { StoreError } from '../../src/store/store-error.js';
import { changesOf, createRunChanges, sampleAnswer, sampleNode } from '../store/sample-changes.js';
import { canMount, mountedFolder } from '../support/mounted-folder.js';
import { removableFolder } from '../support/removable-folder.js';

const PAGE_KIB = 4;

/** A short life of a store. Each turn is made of what was committed before it. */
const turns: readonly ((world: StoredWorld) => Changes)[] = [
  ({ cluster }) => changesOf({ ...cluster, epoch: 1n }),
  ({ cluster }) => changesOf(cluster, { nodes: [2n, 3n, 4n].map(sampleNode) }),
  ({ cluster }) => createRunChanges(cluster, 48),
  (world) => stopStages(world),
  ({ cluster }) => {
    const answer = sampleAnswer('a'.repeat(30_000), TextDoneReason.TEXT_DONE_REASON_MAX_TOKENS);
    return changesOf(cluster, { answers: [{ runId: runId(1n), answer }] });
  },
  ({ cluster }) => createRunChanges(cluster, 16),
  ({ cluster }) => changesOf(cluster, { deletedRuns: [runId(1n)] }),
];

function stopStages({ cluster, runs }: StoredWorld): Changes {
  const [before] = runs;
  const at = revision(cluster.revision + 1n);
  const stages = before!.stages.map((stage) => ({ ...stage, phase: 'STOPPED' as const }));
  return changesOf({ ...cluster, revision: at }, { runs: [{ before, after: { ...before!, stages, revision: at } }] });
}

const open = (folder: string) => openSqliteStore(folder, { newClusterId: () => 'cluster' });

/** Everything that the whole life leaves. */
function wholeLife(): StoredWorld {
  const folder = removableFolder();
  const store = open(folder.path);
  for (const turn of turns) store.commit(turn(store.load()));
  const world = store.load();
  store.close();
  folder.remove();
  return world;
}

it('a disk that is full at any page loses no turn that was committed, and none is half there (I11)', (context) => {
  if (!canMount()) context.skip('needs root and mount(8) for a file system of its own');
  const expected = wholeLife();
  const disk = mountedFolder('size=64k');
  let full = 0;
  let checkpoints = 0;
  try {
    for (let pages = 1; ; pages++) {
      for (const name of readdirSync(disk.path)) rmSync(join(disk.path, name));
      disk.remount(`size=${pages * PAGE_KIB}k`);
      const life = new Life(disk.path);
      const failedAt = life.goOn();
      if (failedAt === undefined) {
        life.expectWorld(expected);
        break;
      }
      full += 1;
      if (failedAt === 'checkpoint') checkpoints += 1;
      life.expectAsCommitted();
      // With room it goes on in the same process, as if nothing had been.
      disk.remount('size=4m');
      expect(life.goOn()).toBeUndefined();
      life.expectWorld(expected);
    }
  } finally {
    disk.remove();
  }
  // Opening takes a dozen pages, and each turn a few.
  expect(full).toBeGreaterThan(turns.length * 3);
  expect(checkpoints).toBeGreaterThan(0);
});

/** A store that lives through the turns as far as the disk lets it. */
class Life {
  private store: SqliteStore | undefined;
  private next = 0;
  private committed: StoredWorld | undefined;

  constructor(private readonly folder: string) {}

  /** Where the disk was full; undefined when the life is over. */
  goOn(): 'open' | 'commit' | 'checkpoint' | undefined {
    if (isFull(() => this.openStore())) return 'open';
    for (; this.next < turns.length; this.next++) {
      const changes = turns[this.next]!(this.store!.load());
      if (isFull(() => this.store!.commit(changes))) return 'commit';
      this.committed = this.store!.load();
      if (this.next % 2 === 1 && isFull(() => this.store!.checkpoint())) {
        this.next += 1;
        return 'checkpoint';
      }
    }
    return undefined;
  }

  /** In this process, and in one that begins on what a crash would leave now. */
  expectAsCommitted(): void {
    if (!this.committed) return;
    expect(this.store?.load()).toEqual(this.committed);
    const copy = removableFolder();
    cpSync(this.folder, copy.path, { recursive: true });
    // What the living process shares with others is no part of what a crash leaves.
    rmSync(join(copy.path, 'stageplane.db-shm'), { force: true });
    const after = open(copy.path);
    expect(after.load()).toEqual(this.committed);
    after.close();
    copy.remove();
  }

  expectWorld(world: StoredWorld): void {
    expect(this.store?.load()).toEqual(world);
    this.store?.close();
    const again = open(this.folder);
    expect(again.load()).toEqual(world);
    again.close();
  }

  private openStore(): void {
    this.store ??= open(this.folder);
  }
}

function isFull(use: () => void): boolean {
  try {
    use();
    return false;
  } catch (error) {
    if (error instanceof StoreError && error.kind === 'disk-full') return true;
    // The memory that the log's readers share could not grow: this SQLite calls an error of the disk.
    if (error instanceof StoreError && String((error.cause as { code?: string }).code) === 'SQLITE_IOERR_SHMSIZE')
      return true;
    throw error;
  }
}
