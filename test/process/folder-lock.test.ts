import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { type FolderLock, lockFolder } from '../../src/process/folder-lock.js';
import type { FolderRefusal } from '../../src/process/folder-refusal.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const holder = fileURLToPath(new URL('./lock-holder.mjs', import.meta.url));

/** A process that has tried to lock the folder, and what it was answered. */
async function startHolder(folder: string): Promise<{ child: ChildProcess; answer: FolderLock | FolderRefusal }> {
  const child = spawn(process.execPath, ['--expose-gc', holder, folder], { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [line] = await once(createInterface(child.stdout), 'line');
  return { child, answer: JSON.parse(line) };
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}

function mustLock(folder: string): FolderLock {
  const lock = lockFolder(folder);
  if (lock.kind === 'refused') throw new Error(lock.message);
  return lock;
}

test('a second process is refused by the name of the first, which garbage collection does not disarm', async () => {
  const folder = temporaryFolder();
  const first = await startHolder(folder);
  expect(first.answer.kind).toBe('locked');
  expect(lockFolder(folder)).toEqual({
    kind: 'refused',
    reason: 'in-use',
    message:
      `another stageplane process (pid ${first.child.pid}) uses the data folder ${folder}: ` +
      'stop it, or name another folder with --data',
  });
  const second = await startHolder(folder);
  expect(second.answer).toMatchObject({ kind: 'refused', reason: 'in-use' });
});

test('the lock of a process that was killed with -9 is free at once', async () => {
  const folder = temporaryFolder();
  for (let round = 0; round < 3; round++) {
    const { child, answer } = await startHolder(folder);
    expect(answer.kind).toBe('locked');
    await kill(child);
  }
  mustLock(folder).release();
});

test('of many that try at the same time one gets the lock', async () => {
  const folder = temporaryFolder();
  const started = await Promise.all(Array.from({ length: 4 }, () => startHolder(folder)));
  const kinds = started.map(({ answer }) => answer.kind).sort();
  expect(kinds).toEqual(['locked', 'refused', 'refused', 'refused']);
});

test('a lock that was released lets the next one in, and leaves no pid behind', async () => {
  const folder = temporaryFolder();
  const lock = mustLock(folder);
  expect(readdirSync(folder).sort()).toEqual(['lock.db', 'lock.pid']);
  expect((await startHolder(folder)).answer).toMatchObject({ reason: 'in-use' });
  lock.release();
  lock.release();
  expect(existsSync(join(folder, 'lock.pid'))).toBe(false);
  expect((await startHolder(folder)).answer.kind).toBe('locked');
});

test('the same process cannot lock a folder twice', () => {
  const folder = temporaryFolder();
  const lock = mustLock(folder);
  expect(lockFolder(folder)).toMatchObject({ reason: 'in-use' });
  lock.release();
});

test('without a pid the sentence does without', async () => {
  const folder = temporaryFolder();
  await startHolder(folder);
  writeFileSync(join(folder, 'lock.pid'), 'no number');
  expect(lockFolder(folder)).toMatchObject({ message: expect.stringMatching(/^another stageplane process uses the/) });
});

test('a lock file that is something else is named', () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'lock.db'), 'A'.repeat(5000));
  expect(lockFolder(folder)).toMatchObject({
    kind: 'refused',
    reason: 'io',
    message: expect.stringContaining(`the data folder ${folder} cannot be used (lock.db: file is not a database)`),
  });
});
