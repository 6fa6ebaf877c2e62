import * as fs from 'node:fs/promises';
import { join, sep } from 'node:path';
import { expect, test, vi } from 'vitest';
import { lookInside } from '../../src/process/look-inside.js';
import { temporaryFolder } from '../support/temporary-folder.js';

vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof fs>();
  return { ...real, realpath: vi.fn(real.realpath), lstat: vi.fn(real.lstat) };
});

test('a path of many names that are not there is looked for as shortly as one of one name', async () => {
  const models = temporaryFolder();
  const looks = async (path: string) => {
    vi.mocked(fs.realpath).mockClear();
    vi.mocked(fs.lstat).mockClear();
    expect(await lookInside(path, [models])).toEqual({ kind: 'absent' });
    return vi.mocked(fs.realpath).mock.calls.length + vi.mocked(fs.lstat).mock.calls.length;
  };
  const short = await looks('a');
  expect(short).toBeLessThan(models.split(sep).length + 5);
  expect(await looks(join(...Array<string>(500).fill('a')))).toBe(short);
});
