import { readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { Child, stageplane } from '../cli/child.js';
import { canMount, type MountedFolder, mountedFolder } from '../support/mounted-folder.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const wordsOf = {
  orchestrator: (data: string) => ['orchestrator', '--listen', '127.0.0.1:0', '--data', data, '--log-level', 'fatal'],
  // Nobody answers there: it starts, and goes on trying.
  agent: (data: string) => ['agent', '--orchestrator', '127.0.0.1:1', '--data', data, '--warm-workers', '0'],
};
type Daemon = keyof typeof wordsOf;

/** A folder in which the daemon has lived and was stopped in good order. */
async function livedIn(daemon: Daemon, data: string): Promise<void> {
  const child = new Child(wordsOf[daemon](data), { XDG_RUNTIME_DIR: temporaryFolder() });
  if (daemon === 'orchestrator') await child.shown('stdout', 'listening on');
  else await child.shown('stderr', '"msg"');
  child.process.kill('SIGTERM');
  expect((await child.end()).code).toBe(0);
}

/** Starts the daemon, which must refuse in one sentence and leave the folder as it is. */
async function refusalIn(daemon: Daemon, data: string): Promise<string> {
  const before = contentOf(data);
  const { code, stdout, stderr } = await stageplane(wordsOf[daemon](data), { XDG_RUNTIME_DIR: temporaryFolder() });
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  expect(stderr).toMatch(/^stageplane: /);
  expect(stderr).not.toMatch(/unexpected| at .+:\d+/);
  expect(contentOf(data)).toEqual(before);
  return stderr.trimEnd().replace('stageplane: ', '');
}

function contentOf(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    statSync(join(folder, name)).isFile(),
  );
  return Object.fromEntries(files.map((name) => [name, readFileSync(join(folder, name), 'latin1')]));
}

const database = (data: string) => join(data, 'stageplane.db');
const restoring = (data: string) => `put a backup in its place with \`stageplane restore FILE --data ${data} --force\``;

describe('an orchestrator refuses, and leaves as it is,', () => {
  it.each<[string, (data: string) => void, (data: string) => string]>([
    ['a database of garbage', (data) => writeFileSync(database(data), 'x'.repeat(9000)), restoring],
    ['a database with a page of garbage', (data) => spoilPage(database(data), 4), restoring],
    ['a database that lost its end', (data) => truncateSync(database(data), 4096 * 3), restoring],
    ['a database that is empty', (data) => truncateSync(database(data), 0), restoring],
    ['a log whose database is gone', (data) => writeFileSync(`${database(data)}-wal`, 'frames'), restoring],
    [
      'a database of a newer version',
      (data) => void new Database(database(data)).exec('PRAGMA user_version = 99').close(),
      () => 'was written by a newer stageplane (version 99; this one knows up to ',
    ],
  ])('%s', async (what, spoil, expected) => {
    const data = temporaryFolder();
    if (!what.includes('is gone')) await livedIn('orchestrator', data);
    else writeFileSync(join(data, 'lock.db'), '');
    spoil(data);
    expect(await refusalIn('orchestrator', data)).toContain(expected(data));
  });
});

describe('an agent refuses, and leaves as it is,', () => {
  it.each<[string, string]>([
    ['that is cut off', '{"instanceId":"a","clust'],
    ['that is empty', ''],
    ['of another kind', '{"format":7,"who":{"instance":"a"}}'],
  ])('an identity %s', async (_, content) => {
    const data = temporaryFolder();
    await livedIn('agent', data);
    writeFileSync(join(data, 'identity.json'), content);
    const sentence = await refusalIn('agent', data);
    expect(sentence).toContain(
      `${join(data, 'identity.json')} is damaged: restore it from a backup, or remove it to join as a new node`,
    );
  });
});

describe.each<Daemon>(['orchestrator', 'agent'])('an %s', (daemon) => {
  it('refuses a read-only folder in a sentence', async (context) => {
    const disk = diskOrSkip(context);
    try {
      await livedIn(daemon, disk.path);
      disk.makeReadOnly();
      expect(await refusalIn(daemon, disk.path)).toMatch(
        /is on a read-only file system: name another folder with --data$/,
      );
    } finally {
      disk.remove();
    }
  });

  it('refuses a full disk in a sentence, and starts when there is room', async (context) => {
    const disk = diskOrSkip(context);
    try {
      await livedIn(daemon, disk.path);
      fillUp(join(disk.path, 'filler'));
      expect(await refusalIn(daemon, disk.path)).toMatch(/is full.*: free some space/);
      disk.remount('size=16m');
      await livedIn(daemon, disk.path);
    } finally {
      disk.remove();
    }
  });
});

function diskOrSkip(context: { skip(note: string): void }): MountedFolder {
  if (!canMount()) context.skip('needs root and mount(8) for a file system of its own');
  return mountedFolder('size=4m');
}

function fillUp(path: string): void {
  try {
    for (;;) writeFileSync(path, Buffer.alloc(4096), { flag: 'a' });
  } catch (error) {
    expect((error as NodeJS.ErrnoException).code).toBe('ENOSPC');
  }
}

function spoilPage(file: string, page: number): void {
  const bytes = readFileSync(file);
  bytes.fill(0xa5, page * 4096, (page + 1) * 4096);
  writeFileSync(file, bytes);
}
