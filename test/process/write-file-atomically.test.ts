import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { writeFileAtomically } from '../../src/process/write-file-atomically.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const replacer = fileURLToPath(new URL('./endless-replacer.mjs', import.meta.url));

test('writes and replaces a file for its owner alone, and leaves nothing beside it', () => {
  const folder = temporaryFolder();
  const path = join(folder, 'identity.json');
  expect(writeFileAtomically(path, 'first, and longer')).toEqual({ kind: 'written' });
  expect(writeFileAtomically(path, new TextEncoder().encode('second'))).toEqual({ kind: 'written' });
  expect(readFileSync(path, 'utf8')).toBe('second');
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual(['identity.json']);
});

test('a leftover of a crash, longer than the new content, does no harm', () => {
  const path = join(temporaryFolder(), 'identity.json');
  writeFileSync(`${path}.new`, 'half of something that was much longer');
  writeFileAtomically(path, 'whole');
  expect(readFileSync(path, 'utf8')).toBe('whole');
});

test('what cannot be written is refused, and the old content stays', () => {
  const folder = temporaryFolder();
  const path = join(folder, 'identity.json');
  writeFileAtomically(path, 'old');
  mkdirSync(`${path}.new`);
  expect(writeFileAtomically(path, 'new')).toMatchObject({
    kind: 'refused',
    reason: 'io',
    message: expect.stringContaining(`the data folder ${folder} cannot be used (EISDIR`),
  });
  expect(readFileSync(path, 'utf8')).toBe('old');
});

test('after kill -9 in the middle of writes the file is whole and holds the last that was reported', async () => {
  const path = join(temporaryFolder(), 'identity.json');
  for (const writes of [1, 40, 15]) {
    const child = spawn(process.execPath, [replacer, path], { stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
      if (output.split('\n').length > writes) child.kill('SIGKILL');
    });
    await once(child, 'close');
    const reported = Number(output.trim().split('\n').at(-1));
    const { count, padding } = JSON.parse(readFileSync(path, 'utf8'));
    expect([reported, reported + 1]).toContain(count);
    expect(padding).toHaveLength(100_000);
  }
});
