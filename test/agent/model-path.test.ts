import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findModel } from '../../src/agent/model-path.js';
import { limits } from '../../src/core/limits.js';
import { temporaryFolder } from '../support/temporary-folder.js';

/** Two models folders and a place outside them: `one/a.gguf`, `one/sub/b.gguf`, `two/c.gguf`, `out/secret.gguf`. */
function disk() {
  const root = temporaryFolder();
  for (const file of ['one/a.gguf', 'one/sub/b.gguf', 'two/c.gguf', 'out/secret.gguf', 'one-more/d.gguf']) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), 'GGUF');
  }
  const at = (path: string) => join(root, path);
  const find = (path: string, folders = [at('one'), at('two')]) =>
    findModel({ source: { $case: 'localPath', value: path } }, folders);
  return { at, find };
}

describe('a model', () => {
  it.each([
    ['a.gguf', 'one/a.gguf'],
    ['sub/b.gguf', 'one/sub/b.gguf'],
    ['./sub/../a.gguf', 'one/a.gguf'],
    ['c.gguf', 'two/c.gguf'],
  ])('%s is found as %s', async (path, where) => {
    const { at, find } = disk();
    expect(await find(path)).toEqual({ kind: 'found', path: at(where) });
  });

  it('named absolutely is taken when it is inside a folder', async () => {
    const { at, find } = disk();
    expect(await find(at('one/sub/b.gguf'))).toEqual({ kind: 'found', path: at('one/sub/b.gguf') });
  });

  it.each(['/srv/models/c.gguf', 'D:\\models\\c.gguf', '\\\\share\\c.gguf'])(
    "of another machine's path %s is found by its name",
    async (path) => {
      const { at, find } = disk();
      expect(await find(path)).toEqual({ kind: 'found', path: at('two/c.gguf') });
    },
  );

  it('may be a link inside the folders, and the folder itself may be one', async () => {
    const { at, find } = disk();
    symlinkSync(at('two/c.gguf'), at('one/link.gguf'));
    expect(await find('link.gguf')).toEqual({ kind: 'found', path: at('two/c.gguf') });
    symlinkSync(at('two'), at('models'));
    expect(await find('c.gguf', [at('models')])).toEqual({ kind: 'found', path: at('two/c.gguf') });
  });

  it.each(['link.gguf', 'folder/secret.gguf'])('behind the link %s that leads out is refused', async (path) => {
    const { at, find } = disk();
    symlinkSync(at('out/secret.gguf'), at('one/link.gguf'));
    symlinkSync(at('out'), at('one/folder'));
    const found = await find(path);
    expect(found).toMatchObject({ kind: 'refused', message: expect.stringContaining(`leads out of ${at('one')}`) });
  });

  it.each(['../out/secret.gguf', '../one-more/d.gguf'])('above the folders, %s, is refused', async (path) => {
    const { find } = disk();
    expect((await find(path)).kind).toBe('refused');
  });

  it('outside is answered alike whether it is there or not', async () => {
    const { at, find } = disk();
    symlinkSync(at('out'), at('one/folder'));
    symlinkSync('/', at('one/top'));
    for (const [there, missing] of [
      ['../out/secret.gguf', '../out/nothing.gguf'],
      ['folder/secret.gguf', 'folder/nothing.gguf'],
      ['top/etc/passwd', 'top/etc/nothing'],
      [at('out/secret.gguf'), at('out/nothing.gguf')],
    ] as const) {
      const said = async (path: string) =>
        JSON.stringify(await find(path)).replaceAll(path.replace(/^\.\.\//, ''), '-');
      expect(await said(missing)).toBe(await said(there));
    }
  });

  it('in shards keeps its name, and none of the shards leads out', async () => {
    const { at, find } = disk();
    const [first, second] = ['one/s-00001-of-00002.gguf', 'one/s-00002-of-00002.gguf'].map(at) as [string, string];
    // As in the cache of Hugging Face, whose files have hashes for names.
    for (const [name, blob] of [
      [first, 'two/blob1'],
      [second, 'two/blob2'],
    ] as const) {
      writeFileSync(at(blob), 'GGUF');
      symlinkSync(at(blob), name);
    }
    expect(await find('s-00001-of-00002.gguf')).toEqual({ kind: 'found', path: first });
    rmSync(second);
    symlinkSync(at('out/secret.gguf'), second);
    expect(await find('s-00001-of-00002.gguf')).toMatchObject({ message: expect.stringContaining('leads out') });
  });

  it.each([
    ['a name', 'nothing.gguf'],
    ['a folder', 'sub'],
    ['the folder itself', '.'],
    ['a name with a NUL', 'a.gguf\0'],
    ['the longest path', 'x'.repeat(limits.pathBytes)],
  ])('is not %s', async (_, path) => {
    const { at, find } = disk();
    const found = await find(path);
    expect(found).toMatchObject({ kind: 'refused', message: expect.stringContaining(at('two')) });
    expect(found.kind === 'refused' && Buffer.byteLength(found.message)).toBeLessThanOrEqual(limits.faultMessageBytes);
  });

  it('outside, named absolutely, says where was looked', async () => {
    const { at, find } = disk();
    expect(await find(at('out/secret.gguf'))).toEqual({
      kind: 'refused',
      message: `model ${at('out/secret.gguf')} was not found under ${at('one')}, ${at('two')}: put it there, or add its folder with --models`,
    });
  });

  it('cannot be looked for without a folder, and is never downloaded', async () => {
    const { find } = disk();
    expect(await find('a.gguf', [])).toMatchObject({ message: expect.stringContaining('start it with --models') });
    const value = { repo: 'o/n', file: 'f.gguf' };
    const remote = await findModel({ source: { $case: 'huggingFace', value } }, ['/models']);
    expect(remote).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('downloads are not in this version'),
    });
    expect((await findModel(undefined, ['/models'])).kind).toBe('refused');
  });
});
