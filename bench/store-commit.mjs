// Commits of the SQLite store against what the disk itself can sync, in one run, so that only the ratios matter.
//
//   npm run bench:store -- [folder] --rounds 3
//
// A row is a stage that has moved; each turn also writes its run, the cluster and one event.
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openSqliteStore } from '../dist/src/store/sqlite/sqlite-store.js';
import { inTurns, median } from './figures.mjs';

const SLICE_MILLIS = 250;
const { values, positionals } = parseArgs({
  options: { rounds: { type: 'string', default: '9' } },
  allowPositionals: true,
});
const folder = mkdtempSync(join(positionals[0] ?? tmpdir(), 'stageplane-bench-'));
try {
  const subjects = [
    { name: 'bare 4 KiB append + fdatasync', rows: 1, ...bareSync() },
    ...[1, 10, 100].map((rows) => ({ name: `commit of ${rows} rows`, rows, ...commits(rows) })),
  ];
  const turns = subjects.map(({ name, once }) => [name, () => perSecond(once)]);
  const { quiet: _, ...rates } = await inTurns(Number(values.rounds), Object.fromEntries(turns));
  for (const subject of subjects) report(subject, median(rates[subject.name]), median(rates[subjects[0].name]));
  for (const subject of subjects) subject.end();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function report({ name, rows }, rate, bare) {
  const columns = [
    name.padEnd(32),
    `${rate.toFixed(0)}/s`.padStart(9),
    `${(1000 / rate).toFixed(3)} ms`.padStart(10),
    `${(rate / bare).toFixed(2)} x bare`.padStart(12),
    `${(rate * rows).toFixed(0)} rows/s`.padStart(14),
  ];
  console.log(columns.join(' '));
}

function perSecond(once) {
  const begin = performance.now();
  let calls = 0;
  let elapsed = 0;
  for (; elapsed < SLICE_MILLIS; elapsed = performance.now() - begin) {
    once();
    calls++;
  }
  return (calls * 1000) / elapsed;
}

function bareSync() {
  const file = openSync(join(folder, 'bare'), 'w');
  const page = Buffer.alloc(4096, 1);
  return {
    once: () => {
      writeSync(file, page);
      fdatasyncSync(file);
    },
    end: () => closeSync(file),
  };
}

function commits(rows) {
  const own = mkdtempSync(join(folder, 'store-'));
  const store = openSqliteStore(own, { newClusterId: () => 'bench' });
  // Ids and revisions have no brands here.
  /** @type {any} */
  let { cluster } = store.load();
  /** @type {any} */
  let before = {
    runId: 1n,
    requestId: 'r',
    mode: 1,
    phase: 'PROVISIONING',
    generation: 1,
    planId: 'p',
    settings: [],
    fidelity: 'mixed',
    createdAt: 0,
    plan: { runId: 1n, stages: [], edges: [], maxTokens: 0 },
    revision: 0n,
    volatile: {},
    remnants: [],
    stages: Array.from({ length: rows }, (_, index) => ({ index, nodeId: 2n, phase: 'PENDING', volatile: {} })),
  };
  store.commit({ ...changes(cluster, []), runs: [{ before: undefined, after: before }] });
  return {
    once: () => {
      const revision = cluster.revision + 1n;
      cluster = { ...cluster, revision };
      const phase = before.stages[0].phase === 'SENT' ? 'ACCEPTED' : 'SENT';
      const after = { ...before, revision, stages: before.stages.map((stage) => ({ ...stage, phase })) };
      const event = { revision, runId: 1n, generation: 1, at: new Date(), detail: undefined };
      store.commit({ ...changes(cluster, [event]), runs: [{ before, after }] });
      before = after;
    },
    end: () => {
      const begin = performance.now();
      store.checkpoint();
      console.log(`checkpoint after commits of ${rows} rows: ${(performance.now() - begin).toFixed(1)} ms`);
      store.close();
    },
  };
}

function changes(cluster, events) {
  return {
    cluster,
    nodes: [],
    runs: [],
    deletedNodes: [],
    deletedRuns: [],
    requests: [],
    events,
    answers: [],
    footprints: [],
    tokens: new Map(),
    certificates: new Map(),
    keys: new Map(),
  };
}
