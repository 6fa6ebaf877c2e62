import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { placeFile } from '../../src/process/place-file.js';
import { canMount, mountedFolder } from '../support/mounted-folder.js';
import { temporaryFolder } from '../support/temporary-folder.js';

/** Places a file with `content`; gives the sentence of a refusal. */
async function place(path: string, content: string | Uint8Array, force = false): Promise<string> {
  const placed = await placeFile({
    path,
    force,
    write: async (unfinished) => {
      writeFileSync(unfinished, content);
      return { kind: 'written', written: content.length };
    },
  });
  return placed.kind === 'placed' ? `placed ${placed.written}` : placed.message;
}

describe('placing a file', () => {
  it('makes it for its owner alone, and leaves nothing beside it', async () => {
    const folder = temporaryFolder();
    const path = join(folder, 'new');
    expect(await place(path, 'all of it')).toBe('placed 9');
    expect(readFileSync(path, 'utf8')).toBe('all of it');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(['new']);
  });

  it('replaces a file when it is told to, and nothing else, ever', async () => {
    const folder = temporaryFolder();
    const path = join(folder, 'file');
    writeFileSync(path, 'old');
    expect(await place(path, 'new')).toBe(`${path} exists already: name another file, or replace it with --force`);
    expect(readFileSync(path, 'utf8')).toBe('old');
    expect(await place(path, 'new', true)).toBe('placed 3');
    expect(readFileSync(path, 'utf8')).toBe('new');

    const link = join(folder, 'link');
    symlinkSync(path, link);
    expect(await place(link, 'other', true)).toContain(`${link} is a link and is left alone`);
    mkdirSync(join(folder, 'folder'));
    expect(await place(join(folder, 'folder'), 'other', true)).toContain('is no regular file and is left alone');
    expect(readFileSync(path, 'utf8')).toBe('new');
    expect(readdirSync(folder).sort()).toEqual(['file', 'folder', 'link']);
  });

  it('never replaces what came to its name while it was written', async () => {
    const folder = temporaryFolder();
    const path = join(folder, 'file');
    const placed = await placeFile({
      path,
      force: false,
      write: async (unfinished) => {
        writeFileSync(unfinished, 'mine');
        writeFileSync(path, 'theirs');
        return { kind: 'written', written: undefined };
      },
    });
    expect(placed).toMatchObject({ kind: 'refused', reason: 'exists' });
    expect(readFileSync(path, 'utf8')).toBe('theirs');
    expect(readdirSync(folder)).toEqual(['file']);
  });

  it('leaves nothing of one that its writer gave up, in either way', async () => {
    const folder = temporaryFolder();
    const path = join(folder, 'file');
    const refusal = { kind: 'refused', reason: 'cancelled', message: 'no more' } as const;
    expect(await placeFile({ path, force: false, write: async () => refusal })).toEqual(refusal);
    const broken = placeFile({
      path,
      force: false,
      write: async (unfinished) => {
        writeFileSync(`${unfinished}-journal`, 'SQLite was here');
        throw new TypeError('a defect');
      },
    });
    await expect(broken).rejects.toThrow('a defect');
    expect(readdirSync(folder)).toEqual([]);
  });

  it('says what is wrong with the folder', async () => {
    const folder = temporaryFolder();
    const missing = join(folder, 'missing', 'file');
    expect(await place(missing, 'x')).toContain(`the folder ${join(folder, 'missing')} does not exist`);
    writeFileSync(join(folder, 'plain'), '');
    expect(await place(join(folder, 'plain', 'file'), 'x')).toContain('does not exist: make it');
    expect(await place(join(folder, 'x'.repeat(300)), 'x')).toContain('is too long for its file system');
  });

  it('says that the folder may not be written', async (context) => {
    const root = process.getuid?.() === 0;
    if (root && !canMount()) context.skip('root may write everywhere but on a read-only mount');
    const folder = root ? mountedFolder('size=1m') : undefined;
    const path = folder?.path ?? temporaryFolder();
    if (folder) folder.makeReadOnly();
    else chmodSync(path, 0o500);
    try {
      expect(await place(join(path, 'file'), 'x')).toMatch(/is on a read-only file system|may not write to the folder/);
    } finally {
      folder?.remove();
    }
  });

  it('leaves nothing on a disk that is full', async (context) => {
    if (!canMount()) context.skip('needs root and mount(8) for a file system of its own');
    const folder = mountedFolder('size=64k');
    const path = join(folder.path, 'file');
    try {
      expect(await place(path, Buffer.alloc(128 * 1024))).toContain(`the disk of ${folder.path} is full`);
      expect(existsSync(path)).toBe(false);
      expect(readdirSync(folder.path)).toEqual([]);
    } finally {
      folder.remove();
    }
  });
});
