import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { revision, runId } from '../../../src/core/ids.js';
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.js';
import { removableFolder } from '../../support/removable-folder.js';
import { createRunChanges } from '../sample-changes.js';

const writer = fileURLToPath(new URL('./endless-writer.mjs', import.meta.url));

/** Runs the writer until it has reported `commits` of them, kills it, and gives the last revision that it reported. */
async function killAfter(folder: string, commits: number): Promise<bigint> {
  const child = spawn(process.execPath, [writer, folder, '40'], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk;
    if (output.split('\n').length > commits) child.kill('SIGKILL');
  });
  const [, signal] = await once(child, 'close');
  expect(signal).toBe('SIGKILL');
  return BigInt(output.trim().split('\n').at(-1) ?? '');
}

test('after kill -9 in the middle of commits, all that was reported is there, and each turn is whole', async () => {
  const folder = removableFolder();
  const open = () => openSqliteStore(folder.path, { newClusterId: () => 'another' });
  let store = open();
  store.commit(createRunChanges(store.load().cluster, 8));
  store.close();

  for (const commits of [1, 75, 30]) {
    const reported = await killAfter(folder.path, commits);
    store = open();
    const { cluster, runs } = store.load();
    // The kill may have come between a commit and its report.
    expect(cluster.revision).toBeGreaterThanOrEqual(reported);
    expect(cluster.revision).toBeLessThanOrEqual(reported + 1n);
    expect(runs[0]?.revision).toBe(cluster.revision);
    expect(runs[0]?.stages.map((stage) => stage.footprint?.bytesRead)).toEqual(Array(8).fill(cluster.revision));
    const events = store.runEvents(runId(1n), revision(0n), 1_000_000).map((event) => event.revision);
    expect(events).toEqual(Array.from({ length: Number(cluster.revision) }, (_, index) => BigInt(index) + 1n));
    store.close();
  }
  folder.remove();
});
