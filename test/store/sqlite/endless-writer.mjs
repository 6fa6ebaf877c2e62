// Commits run after run and prints the revision of each commit that returned, until it is killed.
// Built code, since this is a process of its own: `npm test` builds first.
import { writeSync } from 'node:fs';
import { openSqliteStore } from '../../../dist/src/store/sqlite/sqlite-store.js';

const [folder, checkpointEvery] = process.argv.slice(2);
const store = openSqliteStore(folder, { newClusterId: () => 'cluster' });
let { cluster, runs: stored } = store.load();
let before = stored.at(-1);
for (let count = 1; ; count++) {
  const revision = cluster.revision + 1n;
  cluster = { ...cluster, revision };
  const after = {
    ...before,
    revision,
    stages: before.stages.map((stage) => ({ ...stage, footprint: footprint(revision) })),
  };
  const event = { revision, runId: after.runId, generation: 1, at: new Date(), detail: undefined };
  const runs = [{ before, after }];
  store.commit({
    cluster,
    nodes: [],
    runs,
    deletedNodes: [],
    deletedRuns: [],
    requests: [],
    events: [event],
    answers: [],
    footprints: [],
    tokens: new Map(),
    certificates: new Map(),
    keys: new Map(),
  });
  before = after;
  // Synchronous, so that nothing is left in a buffer of this process.
  writeSync(1, `${revision}\n`);
  if (count % Number(checkpointEvery) === 0) store.checkpoint();
}

function footprint(revision) {
  return { bytesRead: revision, bytesDigest: '', deviceBytes: 0n, hostBytes: 0n };
}
