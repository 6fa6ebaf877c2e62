import { fork } from 'node:child_process';
import { once } from 'node:events';
import { link, mkdir, readdir, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { GgufModel } from '../../../src/gguf/open-model.js';
import { type HeldSlice, SliceCache } from '../../../src/gguf/slice/slice-cache.js';
import { sliceRecipes } from '../../../src/gguf/slice/slice-recipes.js';
import { openForSlices, type SliceSpec, sliceBytes, writeSlice } from '../../../src/gguf/slice/write-slice.js';
import { writeTinyModel } from '../../../src/gguf/tiny-model.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { writeSparseModel } from '../../worker/fixtures/sparse-model.js';

const folder = temporaryFolder(afterAll);
const LAYERS = 6;
let model: GgufModel;
beforeAll(async () => {
  const [path] = await writeTinyModel(join(folder, 'model.gguf'), { layers: LAYERS, hidden: 32 });
  model = await opened(path);
});

async function opened(path: string): Promise<GgufModel> {
  const outcome = await openForSlices(path);
  if (outcome.kind === 'refused') throw outcome.error;
  return outcome.model;
}

const specOf = (start: number, end: number): SliceSpec => ({
  model,
  range: { start, end },
  recipe: sliceRecipes.get('llama')!,
});

let caches = 0;
function emptyCache(maxBytes = 2 ** 30): SliceCache {
  caches += 1;
  return new SliceCache({ folder: join(folder, `cache-${caches}`), maxBytes });
}

async function held(cache: SliceCache, spec: SliceSpec): Promise<HeldSlice> {
  const taken = await cache.take(spec);
  if (taken.kind !== 'held') throw new Error(JSON.stringify(taken));
  return taken;
}

/** What the folder holds, drafts and links included. */
async function filesOf({ options }: SliceCache): Promise<string[]> {
  return (await readdir(options.folder, { recursive: true })).filter((file) => file.includes('.'));
}

test('a slice is written once and used again, by other caches of the folder too', async () => {
  const cache = emptyCache();
  const first = await held(cache, specOf(1, 3));
  const again = await held(new SliceCache(cache.options), specOf(1, 3));
  expect([first.reused, again.reused]).toEqual([false, true]);
  expect(again.bytesDigest).toBe(first.bytesDigest);
  expect(again.bytesRead).toBe(first.bytesRead);
  const fresh = join(folder, 'fresh.gguf');
  expect(await writeSlice(fresh, specOf(1, 3))).toBe(again.bytesDigest);
  expect((await readFile(again.path)).equals(await readFile(fresh))).toBe(true);
});

test('another range, another model and a model that was written anew are other slices', async () => {
  const cache = emptyCache();
  await held(cache, specOf(1, 3));
  expect((await held(cache, specOf(1, 4))).reused).toBe(false);
  const [path] = await writeTinyModel(join(folder, 'other.gguf'), { layers: LAYERS, hidden: 32, name: 'other' });
  expect((await held(cache, { ...specOf(1, 3), model: await opened(path) })).reused).toBe(false);
  // The same header and size: the digest of a model does not see its weights.
  await writeTinyModel(path, { layers: LAYERS, hidden: 32, name: 'other', seed: 2 });
  await utimes(path, new Date(), new Date(Date.now() + 5000));
  expect((await held(cache, { ...specOf(1, 3), model: await opened(path) })).reused).toBe(false);
});

describe('a bound on the bytes', () => {
  /** Slices of one layer in the middle are all of one size. */
  const layer = (start: number) => specOf(start, start + 1);

  test('drops the slice that was not used for longest', async () => {
    const cache = emptyCache(2 * sliceBytes(layer(1)));
    for (const start of [1, 2]) await (await held(cache, layer(start))).release();
    await age(cache, layer(2));
    await (await held(cache, layer(3))).release();
    expect((await held(cache, layer(1))).reused).toBe(true);
    expect((await held(cache, layer(2))).reused).toBe(false);
  });

  test('never drops one that is in use, and says what is missing', async () => {
    const cache = emptyCache(2 * sliceBytes(layer(1)));
    const [one, two] = [await held(cache, layer(1)), await held(cache, layer(2))];
    const refused = await cache.take(layer(3));
    expect(refused).toMatchObject({
      kind: 'no-room',
      message: expect.stringContaining(`${sliceBytes(layer(3))} bytes`),
    });
    expect((await stat(one.path)).size).toBe(sliceBytes(layer(1)));
    await two.release();
    expect((await held(cache, layer(3))).reused).toBe(false);
    expect((await held(cache, layer(1))).reused).toBe(true);
  });

  /** Makes a slice the one that was used least recently. */
  async function age({ options }: SliceCache, spec: SliceSpec): Promise<void> {
    const digest = await writeSlice(join(folder, 'aged.gguf'), spec);
    const file = (await readdir(options.folder)).find((name) => name.includes(digest))!;
    await utimes(join(options.folder, file), new Date(0), new Date(0));
  }
});

test('what a process left that died is swept away by the next one', async () => {
  const cache = emptyCache();
  const slice = await held(cache, specOf(1, 2));
  const child = fork(join(import.meta.dirname, 'exit.mjs'));
  const { pid } = child;
  await once(child, 'exit');
  const left = join(cache.options.folder, 'in-use', `${pid}-left.gguf`);
  await link(slice.path, left);
  await link(slice.path, join(cache.options.folder, `${pid}-left.draft.partial`));
  await slice.release();
  expect((await filesOf(cache)).filter((file) => file.includes(`${pid}-`))).toHaveLength(2);
  await held(cache, specOf(1, 2));
  expect((await filesOf(cache)).filter((file) => file.includes(`${pid}-`))).toEqual([]);
});

test('a disk without room is refused before a byte is written', async () => {
  const path = join(folder, 'huge.gguf');
  await writeSparseModel(path, { layers: 3, bytesPerLayer: 2 ** 41 });
  const cache = emptyCache(2 ** 52);
  const taken = await cache.take({ ...specOf(1, 2), model: await opened(path) });
  expect(taken).toMatchObject({ kind: 'no-room', message: expect.stringContaining('free some') });
  expect(await filesOf(cache)).toEqual([]);
});

test('a load that is ended leaves nothing half-written', async () => {
  const cache = emptyCache();
  const taken = await cache.take(specOf(0, 3), { signal: { aborted: true } });
  expect(taken.kind).toBe('aborted');
  expect(await filesOf(cache)).toEqual([]);
});

test("a slice and its folder are their owner's alone", async () => {
  const cache = emptyCache();
  const { path } = await held(cache, specOf(0, 1));
  const modeOf = async (file: string) => (await stat(file)).mode & 0o777;
  expect([
    await modeOf(path),
    await modeOf(cache.options.folder),
    await modeOf(join(cache.options.folder, 'in-use')),
  ]).toEqual([0o600, 0o700, 0o700]);
});

test('a link that somebody has put in place of a slice is not used, and its target stays as it is', async () => {
  const cache = emptyCache();
  const first = await held(cache, specOf(0, 1));
  await first.release();
  const [name = ''] = (await readdir(cache.options.folder)).filter((file) => file.endsWith('.gguf'));
  const target = join(folder, 'planted');
  await writeFile(target, 'mine');
  await rm(join(cache.options.folder, name));
  await symlink(target, join(cache.options.folder, name));
  const again = await held(cache, specOf(0, 1));
  expect([again.reused, again.bytesDigest]).toEqual([false, first.bytesDigest]);
  expect((await readFile(again.path)).subarray(0, 4).toString()).toBe('GGUF');
  expect(await readFile(target, 'utf8')).toBe('mine');
});

test('links of slices in use are not made elsewhere', async () => {
  const cache = emptyCache();
  await mkdir(cache.options.folder);
  const elsewhere = join(folder, 'elsewhere');
  await mkdir(elsewhere);
  await symlink(elsewhere, join(cache.options.folder, 'in-use'));
  expect(await cache.take(specOf(0, 1))).toMatchObject({
    kind: 'failed',
    message: expect.stringContaining('remove it'),
  });
  expect(await readdir(elsewhere)).toEqual([]);
});
