import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { prepareDataFolder } from '../../src/process/data-folder.js';
import { temporaryFolder } from '../support/temporary-folder.js';

test('makes the folder and those above it, for its owner alone, and leaves it empty', () => {
  const folder = join(temporaryFolder(), 'above', 'data');
  expect(prepareDataFolder(folder)).toEqual({ kind: 'ready', path: folder });
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(readdirSync(folder)).toEqual([]);
});

test('takes an existing folder as it is, and answers with an absolute path', () => {
  const folder = temporaryFolder();
  chmodSync(folder, 0o750);
  writeFileSync(join(folder, 'kept'), 'kept');
  expect(prepareDataFolder(relative(process.cwd(), folder))).toEqual({ kind: 'ready', path: folder });
  expect(statSync(folder).mode & 0o777).toBe(0o750);
  expect(readdirSync(folder)).toEqual(['kept']);
});

test.each(['', '/below'])('a file in the way is named (data folder = file%s)', (below) => {
  const file = join(temporaryFolder(), 'file');
  writeFileSync(file, '');
  expect(prepareDataFolder(`${file}${below}`)).toEqual({
    kind: 'refused',
    reason: 'not-a-folder',
    message:
      `the data folder ${file}${below} cannot be made, since a file is in its way: ` +
      'move it, or name another folder with --data',
  });
});

test('a folder that this user may not make is refused', (context) => {
  if (process.getuid?.() === 0) context.skip('root may write everywhere');
  const parent = temporaryFolder();
  chmodSync(parent, 0o500);
  onTestFinished(() => chmodSync(parent, 0o700));
  expect(prepareDataFolder(join(parent, 'data'))).toMatchObject({
    reason: 'no-permission',
    message: expect.stringContaining(`this user may not write to the data folder ${join(parent, 'data')} (EACCES`),
  });
});

test('an immutable folder is refused even for root', (context) => {
  const folder = temporaryFolder();
  if (!run('chattr', '+i', folder)) context.skip('needs root and a file system with immutable files');
  onTestFinished(() => void run('chattr', '-i', folder));
  expect(prepareDataFolder(join(folder, 'data'))).toMatchObject({ kind: 'refused', reason: 'no-permission' });
  expect(prepareDataFolder(folder)).toMatchObject({ kind: 'refused', reason: 'no-permission' });
});

test('a read-only file system is refused, also for root', (context) => {
  const folder = join(temporaryFolder(), 'mount');
  mkdirSync(folder);
  if (!run('mount', '-t', 'tmpfs', '-o', 'ro,size=64k', 'stageplane-test', folder))
    context.skip('needs root and mount(8)');
  onTestFinished(() => void run('umount', folder));
  const sentence = `the data folder ${folder} is on a read-only file system: name another folder with --data`;
  expect(prepareDataFolder(folder)).toEqual({ kind: 'refused', reason: 'read-only', message: sentence });
});

function run(program: string, ...args: string[]): boolean {
  try {
    execFileSync(program, args, { stdio: 'pipe' });
    return true;
  } catch {
    return false;
  }
}
