import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { RunEvent } from '../../gen/stageplane/v1/run.js';
import { type TextAnswer, TextDoneReason } from '../../gen/stageplane/v1/token_endpoint.js';
import { millis, type RunId, revision, runId, wallMillis } from '../../src/core/ids.js';
import { Draft } from '../../src/core/machine/draft.js';
import type { Rules } from '../../src/core/machine/rules.js';
import type { FootprintRecord, StoredWorld, World } from '../../src/core/machine/state.js';
import { withoutVolatile } from '../../src/core/machine/without-volatile.js';
import { openWorld } from '../../src/core/machine/world.js';
import type { AuditQuery } from '../../src/store/audit-record.js';
import type { Store, StoreBounds, StoreOptions } from '../../src/store/store.js';
import { removableFolder } from '../support/removable-folder.js';
import { turns } from './arbitrary-turns.js';
import { changesOf, createRunChanges, sampleAnswer, sampleEvent, sampleNode, sampleRecord } from './sample-changes.js';

/** One place where a store keeps its things; opening it again is what a restart does. */
export interface StorePlace {
  open(options: StoreOptions): Store;
  /** A store on a backup that was put into another place. */
  openBackup(file: string, options: StoreOptions): Store;
  remove(): void;
}

/** What every store promises in store.ts. */
export function describeStore(name: string, makePlace: () => StorePlace): void {
  describe(`${name}: a store`, () => {
    let place: StorePlace;
    let store: Store;
    const open = (bounds: StoreBounds = {}): Store =>
      place.open({ newClusterId: () => 'cluster-of-the-test', ...bounds });
    const restart = (): void => {
      store.close();
      store = open();
    };
    beforeEach(() => {
      place = makePlace();
      store = open();
    });
    afterEach(() => {
      store.close();
      place.remove();
    });

    test('keeps who asked for a turn with the turn, or neither', () => {
      const turn = createRunChanges(store.load().cluster);
      const orphan = { runId: runId(99n), answer: sampleAnswer('x', TextDoneReason.TEXT_DONE_REASON_MAX_TOKENS) };
      expect(() => store.commit({ ...turn, answers: [orphan] }, [sampleRecord(1)])).toThrow();
      expect(store.auditRecords({ limit: 10 })).toEqual([]);
      store.commit(turn, [sampleRecord(1), sampleRecord(2)]);
      restart();
      expect(store.auditRecords({ limit: 10 }).map(({ at }) => at)).toEqual([2, 1]);
      const [record] = store.auditRecords({ limit: 1 });
      const { id, ...parts } = record!;
      expect([typeof id, parts]).toEqual(['bigint', sampleRecord(2)]);
      // Whatever becomes of the run.
      store.commit(changesOf(store.load().cluster, { deletedRuns: [runId(1n)] }));
      expect(store.auditRecords({ limit: 10 })).toHaveLength(2);
    });

    test('finds records of the audit log by time, caller, method, run and node, newest first or after an id', () => {
      store.addAudit([1, 2, 3, 4, 5].map((at) => sampleRecord(at, { runId: BigInt(at), nodeId: 9n })));
      const by = { kind: 'stranger', role: '', name: '', serial: '', address: '10.0.0.7' } as const;
      store.addAudit([sampleRecord(6, { by, since: wallMillis(2), count: 7, method: 'other/Method' })]);
      const at = (query: Partial<AuditQuery>) => store.auditRecords({ limit: 10, ...query }).map((one) => one.at);
      expect(at({})).toEqual([6, 5, 4, 3, 2, 1]);
      expect(at({ limit: 2 })).toEqual([6, 5]);
      const ids = store.auditRecords({ limit: 10 }).map(({ id }) => id);
      expect(at({ before: ids[1]! })).toEqual([4, 3, 2, 1]);
      expect(at({ after: ids[3]!, limit: 2 })).toEqual([4, 5]);
      expect(at({ after: 0n })).toEqual([1, 2, 3, 4, 5, 6]);
      expect(at({ since: wallMillis(3), until: wallMillis(4) })).toEqual([6, 4, 3]);
      expect([at({ by: 'lena' }).length, at({ by: 'ab12' }).length, at({ by: '10.0.0.7' })]).toEqual([5, 5, [6]]);
      expect([at({ method: 'Method' }), at({ method: 'other/Method' }), at({ method: 'other' })]).toEqual([
        [6],
        [6],
        [],
      ]);
      expect([at({ runId: 3n }), at({ nodeId: 9n }).length, at({ nodeId: 9n, runId: 4n })]).toEqual([[3], 5, [4]]);
    });

    test('forgets the oldest records of the audit log, kind by kind, and gives no id twice (I16)', () => {
      store.close();
      const bounds = { auditRecords: { change: 600, run: 30, use: 50, refusal: 20 } };
      store = open(bounds);
      store.commit(changesOf({ ...store.load().cluster, epoch: 1n }));
      for (let batch = 0; batch < 16; batch++) {
        store.addAudit(Array.from({ length: 100 }, (_, at) => sampleRecord(batch * 100 + at, { kind: 'refusal' })));
        store.addAudit(Array.from({ length: 40 }, (_, at) => sampleRecord(batch * 40 + at, { kind: 'run' })));
        store.addAudit([sampleRecord(batch)]);
      }
      const kept = store.auditRecords({ limit: 10_000 });
      const ofKind = (kind: string) => kept.filter((record) => record.kind === kind);
      expect(ofKind('change')).toHaveLength(16);
      expect(ofKind('run').length).toBeLessThanOrEqual(30 + 256);
      expect(ofKind('refusal').length).toBeGreaterThanOrEqual(20);
      expect(ofKind('refusal').length).toBeLessThanOrEqual(20 + 256);
      expect(ofKind('refusal')[0]?.at).toBe(1599);
      const newest = kept[0]!.id;
      store.close();
      store = open(bounds);
      store.addAudit([sampleRecord(1)]);
      expect(store.auditRecords({ limit: 1 })[0]!.id).toBe(newest + 1n);
    });

    test('begins with the cluster it was given, at epoch 0', () => {
      expect(store.load()).toEqual({
        cluster: {
          clusterId: 'cluster-of-the-test',
          epoch: 0n,
          revision: 0n,
          nextRunId: 1n,
          nextNodeId: 2n,
          goneNodeId: 1n,
        },
        nodes: [],
        runs: [],
        requests: [],
        footprints: [],
        tokens: [],
        certificates: [],
        keys: [],
      });
    });

    test('keeps its cluster over a restart, whatever a new one would be called', () => {
      store.commit(changesOf({ ...store.load().cluster, epoch: 7n }));
      store.close();
      store = place.open({ newClusterId: () => 'another' });
      expect(store.load().cluster).toMatchObject({ clusterId: 'cluster-of-the-test', epoch: 7n });
    });

    test('gives back the durable state of any history, at once and after a restart (I11)', () => {
      fc.assert(
        fc.property(turns, (history) => {
          const own = makePlace();
          try {
            expectRestartEquivalence(own, history);
          } finally {
            own.remove();
          }
        }),
        { numRuns: 30 },
      );
    });

    test('commits all of a turn or nothing, when the turn fails at its last row', () => {
      store.commit(createRunChanges(store.load().cluster));
      const before = store.load();
      const turn = createRunChanges(before.cluster);
      const committedBefore = sampleEvent(runId(1n), revision(1n));
      const nodes = [sampleNode(2n)];
      expect(() => store.commit({ ...turn, nodes, events: [...turn.events, committedBefore] })).toThrow();
      expect(store.load()).toEqual(before);
      expect(store.runEvents(runId(2n), revision(0n), 10)).toEqual([]);
      store.commit(turn);
      expect(store.load().runs).toHaveLength(2);
    });

    test('refuses an event of a run that it does not have', () => {
      const { cluster } = store.load();
      const turn = changesOf(
        { ...cluster, revision: revision(1n) },
        { events: [sampleEvent(runId(9n), revision(1n))] },
      );
      expect(() => store.commit(turn)).toThrow();
      expect(store.load().cluster).toEqual(cluster);
    });

    test('refuses a number that does not fit in a column, and keeps the largest that does', () => {
      const largest = 2n ** 63n - 1n;
      store.commit(changesOf({ ...store.load().cluster, epoch: largest }, { nodes: [sampleNode(largest)] }));
      const before = store.load();
      expect(before.cluster.epoch).toBe(largest);
      expect(before.nodes.map((node) => node.nodeId)).toEqual([largest]);
      expect(() => store.commit(changesOf({ ...before.cluster, epoch: largest + 1n }))).toThrow(RangeError);
      expect(() => store.commit(changesOf(before.cluster, { nodes: [sampleNode(largest + 1n)] }))).toThrow(RangeError);
      expect(store.load()).toEqual(before);
    });

    test('reads the events of one run in order, above a revision, at most as many as asked (I10)', () => {
      const cluster = store.load().cluster;
      const first = createRunChanges(cluster);
      const second = createRunChanges(first.cluster);
      const mine = [3n, 5n, 6n, 9n].map((at) => sampleEvent(runId(1n), revision(at)));
      const theirs = [4n, 7n, 8n].map((at) => sampleEvent(runId(2n), revision(at)));
      store.commit(first);
      store.commit(second);
      store.commit(changesOf({ ...cluster, revision: revision(9n) }, { events: [...mine, ...theirs] }));

      const read = (after: bigint, limit: number) =>
        store.runEvents(runId(1n), revision(after), limit).map((event) => event.revision);
      expect(read(0n, 10)).toEqual([1n, 3n, 5n, 6n, 9n]);
      expect(read(3n, 2)).toEqual([5n, 6n]);
      expect(read(6n, 10)).toEqual([9n]);
      expect(read(9n, 10)).toEqual([]);
      expect(read(0n, 0)).toEqual([]);
      expect(store.runEvents(runId(1n), revision(5n), 1)).toEqual([mine[2]]);
    });

    test('reads the events of all runs in order, and knows where the newest begin (I10, I12)', () => {
      expect([store.events(revision(0n), 10), store.revisionBeforeLast(0)]).toEqual([[], 0n]);
      const first = createRunChanges(store.load().cluster);
      const second = createRunChanges(first.cluster);
      store.commit(first);
      store.commit(second);
      const more = [
        sampleEvent(runId(2n), revision(3n)),
        sampleEvent(runId(1n), revision(5n)),
        sampleEvent(runId(2n), revision(6n)),
      ];
      store.commit(changesOf({ ...second.cluster, revision: revision(6n) }, { events: more }));
      restart();
      const read = (after: bigint, limit: number) =>
        store.events(revision(after), limit).map((event) => event.revision);
      expect(read(0n, 10)).toEqual([1n, 2n, 3n, 5n, 6n]);
      expect(read(2n, 2)).toEqual([3n, 5n]);
      expect(read(6n, 10)).toEqual([]);
      expect(read(2n ** 64n - 1n, 10)).toEqual([]);
      expect(store.events(revision(3n), 10)).toEqual(more.slice(1));
      expect([0, 1, 3, 4, 5, 1000].map((count) => store.revisionBeforeLast(count))).toEqual([6n, 5n, 2n, 1n, 0n, 0n]);
      store.commit(changesOf(store.load().cluster, { deletedRuns: [runId(2n)] }));
      expect(read(0n, 10)).toEqual([1n, 5n]);
      expect(store.revisionBeforeLast(1)).toBe(1n);
    });

    test('knows no events of an unknown run, nor above any revision that a launcher may ask for', () => {
      store.commit(createRunChanges(store.load().cluster));
      const uint64 = 2n ** 64n - 1n;
      expect(store.runEvents(runId(uint64), revision(0n), 10)).toEqual([]);
      expect(store.runEvents(runId(1n), revision(uint64), 10)).toEqual([]);
    });

    test('forgets a deleted run with its events, and remembers its request (I9)', () => {
      const first = createRunChanges(store.load().cluster);
      const second = createRunChanges(first.cluster);
      store.commit(first);
      store.commit(second);
      store.commit(changesOf(second.cluster, { deletedRuns: [runId(1n)] }));
      restart();
      expect(store.load().runs.map((run) => run.runId)).toEqual([2n]);
      expect(store.load().requests.map((request) => request.requestId)).toEqual(['request-1', 'request-2']);
      expect(store.runEvents(runId(1n), revision(0n), 10)).toEqual([]);
      expect(store.runEvents(runId(2n), revision(0n), 10)).toHaveLength(1);
    });

    test('keeps the newest answer of a run, over a restart, until the run is deleted', () => {
      store.commit(createRunChanges(store.load().cluster));
      expect(store.answer(runId(1n))).toBeUndefined();
      const { cluster } = store.load();
      const partial = sampleAnswer('Once', TextDoneReason.TEXT_DONE_REASON_UNAVAILABLE);
      const whole = sampleAnswer('Once upon', TextDoneReason.TEXT_DONE_REASON_MAX_TOKENS);
      store.commit(changesOf(cluster, { answers: [{ runId: runId(1n), answer: partial }] }));
      expect(store.answer(runId(1n))).toEqual(partial);
      store.commit(changesOf(cluster, { answers: [{ runId: runId(1n), answer: whole }] }));
      restart();
      expect(store.answer(runId(1n))).toEqual(whole);
      store.commit(changesOf(cluster, { deletedRuns: [runId(1n)] }));
      expect(store.answer(runId(1n))).toBeUndefined();
    });

    test('keeps what a plan promises of its arithmetic, also when that alone is new', () => {
      store.commit(createRunChanges(store.load().cluster));
      const { cluster, runs } = store.load();
      const [before] = runs;
      expect(before?.fidelity).toBe('same-kernels');
      store.commit(changesOf(cluster, { runs: [{ before, after: { ...before!, fidelity: 'mixed' } }] }));
      expect(store.load().runs[0]?.fidelity).toBe('mixed');
    });

    test('commits an answer with its run or not at all, and none of a run that it does not have', () => {
      store.commit(createRunChanges(store.load().cluster));
      const { cluster, runs } = store.load();
      const answer = sampleAnswer('Once', TextDoneReason.TEXT_DONE_REASON_MAX_TOKENS);
      const done = { ...runs[0]!, phase: 'TEARING_DOWN' as const, outcome: 'COMPLETED' as const };
      const turn = changesOf(cluster, { runs: [{ before: runs[0], after: done }] });
      const own = { runId: runId(1n), answer };
      expect(() => store.commit({ ...turn, answers: [own, { runId: runId(9n), answer }] })).toThrow();
      expect(store.answer(runId(1n))).toBeUndefined();
      expect(store.load().runs).toEqual(runs);
      store.commit({ ...turn, answers: [own] });
      expect(store.answer(runId(1n))).toEqual(answer);
      expect(store.answer(runId(2n ** 64n - 1n))).toBeUndefined();
    });

    test('keeps an answer of the largest size', () => {
      store.commit(createRunChanges(store.load().cluster));
      const text = 'a'.repeat(1024 * 1024);
      const answer: TextAnswer = {
        ...sampleAnswer(text, TextDoneReason.TEXT_DONE_REASON_CANCELLED),
        tokenIds: Array.from({ length: text.length }, () => 97),
      };
      store.commit(changesOf(store.load().cluster, { answers: [{ runId: runId(1n), answer }] }));
      restart();
      expect(store.answer(runId(1n))).toEqual(answer);
    });

    test('takes a run that came and went within one turn', () => {
      const turn = createRunChanges(store.load().cluster);
      store.commit({ ...turn, runs: [], deletedRuns: [runId(1n)] });
      expect(store.load()).toMatchObject({ runs: [], requests: turn.requests, cluster: turn.cluster });
      expect(store.runEvents(runId(1n), revision(0n), 10)).toEqual([]);
    });

    test('forgets the oldest requests of deleted runs when there are too many, never one of a run it has (I16)', () => {
      store.close();
      store = open({ requestRecords: 3 });
      for (let count = 0; count < 5; count++) store.commit(createRunChanges(store.load().cluster));
      const ids = () => store.load().requests.map((request) => request.runId);
      expect(ids()).toEqual([1n, 2n, 3n, 4n, 5n]);
      store.commit(changesOf(store.load().cluster, { deletedRuns: [4n, 2n, 1n].map(runId) }));
      expect(ids()).toEqual([3n, 4n, 5n]);
      store.commit(createRunChanges(store.load().cluster));
      expect(ids()).toEqual([3n, 5n, 6n]);
    });

    test('keeps the newest footprint of a key, over a restart, also when its run is deleted', () => {
      store.commit(createRunChanges(store.load().cluster));
      const first = footprints([1n, 'a', 5n], [2n, 'b', 2n ** 63n - 1n]);
      store.commit(changesOf(store.load().cluster, { footprints: first }));
      store.commit(changesOf(store.load().cluster, { footprints: footprints([3n, 'a', 4n]) }));
      store.commit(changesOf(store.load().cluster, { deletedRuns: [runId(1n)] }));
      restart();
      expect(store.load().footprints).toEqual([first[1], ...footprints([3n, 'a', 4n])]);
      const tooLarge = footprints([4n, 'a', 2n ** 63n]);
      expect(() => store.commit(changesOf(store.load().cluster, { footprints: tooLarge }))).toThrow(RangeError);
      expect(store.load().footprints).toHaveLength(2);
    });

    test('forgets the oldest footprints when there are too many; one that is renewed is new (I16)', () => {
      store.close();
      store = open({ footprintRecords: 2 });
      const { cluster } = store.load();
      store.commit(changesOf(cluster, { footprints: footprints([1n, 'a', 1n], [2n, 'b', 1n]) }));
      store.commit(changesOf(cluster, { footprints: footprints([3n, 'a', 1n]) }));
      store.commit(changesOf(cluster, { footprints: footprints([4n, 'c', 1n]) }));
      expect(store.load().footprints.map(({ key }) => key)).toEqual(['a', 'c']);
      store.commit(changesOf(cluster, { footprints: footprints([5n, 'd', 1n], [6n, 'e', 1n], [7n, 'f', 1n]) }));
      expect(store.load().footprints.map(({ key }) => key)).toEqual(['e', 'f']);
    });

    describe('as a backup', () => {
      let folder: ReturnType<typeof removableFolder>;
      let file: string;
      beforeEach(() => {
        folder = removableFolder();
        file = join(folder.path, 'backup');
        writeFileSync(file, '');
      });
      afterEach(() => folder.remove());
      const backup = (signal = new AbortController().signal, onProgress = () => {}) =>
        store.backup(file, { signal, onProgress });
      const openBackup = () => place.openBackup(file, { newClusterId: () => 'another' });

      test('has all that was committed before, and nothing that was committed since', async () => {
        store.commit(createRunChanges(store.load().cluster));
        const answer = sampleAnswer('Once', TextDoneReason.TEXT_DONE_REASON_MAX_TOKENS);
        const parts = { answers: [{ runId: runId(1n), answer }], footprints: footprints([2n, 'a', 5n]) };
        store.commit(changesOf(store.load().cluster, { ...parts, nodes: [sampleNode(2n)] }), [sampleRecord(5)]);
        const before = store.load();
        const made = await backup();
        store.commit(createRunChanges(before.cluster));
        expect(made).toEqual({ kind: 'made', bytes: statSync(file).size, revision: before.cluster.revision });
        const copy = openBackup();
        expect(copy.load()).toEqual(before);
        expect(copy.answer(runId(1n))).toEqual(answer);
        expect(copy.auditRecords({ limit: 10 })).toEqual(store.auditRecords({ limit: 10 }));
        expect(copy.auditRecords({ limit: 10 })).toMatchObject([{ at: 5 }]);
        expect(copy.runEvents(runId(1n), revision(0n), 10)).toEqual(store.runEvents(runId(1n), revision(0n), 10));
        copy.close();
      });

      test('says that it is one until its first commit, and the store that it was made of never does', async () => {
        await backup();
        expect(store.isBackup).toBe(false);
        const copy = openBackup();
        expect(copy.isBackup).toBe(true);
        expect(() => copy.commit(changesOf({ ...copy.load().cluster, epoch: 2n ** 63n }))).toThrow(RangeError);
        expect(copy.isBackup).toBe(true);
        copy.commit(createRunChanges(copy.load().cluster));
        expect(copy.isBackup).toBe(false);
        copy.close();
        restart();
        expect(store.isBackup).toBe(false);
      });

      test('is given up when it is cancelled, or has nowhere to go, and the store goes on', async () => {
        expect(await backup(AbortSignal.abort())).toEqual({ kind: 'cancelled' });
        rmSync(file);
        mkdirSync(file);
        expect(await backup()).toMatchObject({ kind: 'failed' });
        store.commit(createRunChanges(store.load().cluster));
        expect(store.load().runs).toHaveLength(1);
      });
    });

    test('goes on as before after a checkpoint, and may be closed twice', () => {
      store.commit(createRunChanges(store.load().cluster));
      const before = store.load();
      store.checkpoint();
      expect(store.load()).toEqual(before);
      store.commit(createRunChanges(before.cluster));
      restart();
      store.close();
      store.close();
      store = open();
      expect(store.load().runs).toHaveLength(2);
    });
  });
}

function footprints(...records: (readonly [bigint, string, bigint])[]): FootprintRecord[] {
  return records.map(([at, key, deviceBytes]) => ({ key, deviceBytes, revision: revision(at) }));
}

const rules: Rules = { timings: {} as Rules['timings'], sha256: () => '' };

/** Runs a history through real drafts; after each turn the store must hold what memory holds, minus sessions. */
function expectRestartEquivalence(place: StorePlace, history: readonly ((draft: Draft) => void)[][]): void {
  const reopen = () => place.open({ newClusterId: () => 'cluster' });
  let store = reopen();
  const { world } = openWorld(store.load(), millis(0), { graceAfterStart: 0 } as Rules['timings']);
  const events = new Map<bigint, RunEvent[]>();
  const answers = new Map<RunId, TextAnswer | undefined>();
  for (const deeds of history) {
    const draft = new Draft(world, millis(0), wallMillis(1_700_000_000_123), rules);
    for (const deed of deeds) deed(draft);
    const changes = draft.changes();
    if (!changes) continue;
    store.commit(changes);
    draft.applyTo(world);
    for (const event of changes.events) events.set(event.runId, [...(events.get(event.runId) ?? []), event]);
    for (const { runId, answer } of changes.answers) answers.set(runId, answer);
    for (const id of changes.deletedRuns) {
      events.set(id, []);
      answers.set(id, undefined);
    }
    expect(store.load()).toEqual(durablePart(world));
  }
  store.close();
  store = reopen();
  expect(store.load()).toEqual(durablePart(world));
  for (const [id, known] of events) expect(store.runEvents(runId(id), revision(0n), 1000)).toEqual(known);
  for (const [id, known] of answers) expect(store.answer(id)).toEqual(known);
  store.close();
}

function durablePart(world: World): StoredWorld {
  return {
    cluster: world.cluster,
    nodes: inOrder(world.nodes),
    runs: inOrder(world.runs).map(withoutVolatile),
    requests: [...world.requests.values()].sort((a, b) => Number(a.runId - b.runId)),
    footprints: [...world.footprints.values()],
    tokens: byName(world.tokens),
    certificates: byName(world.certificates),
    keys: byName(world.keys),
  };
}

function byName<V>(records: ReadonlyMap<string, V>): V[] {
  return [...records].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, record]) => record);
}

function inOrder<K extends bigint, V>(items: ReadonlyMap<K, V>): V[] {
  return [...items].sort(([a], [b]) => Number(a - b)).map(([, value]) => value);
}
