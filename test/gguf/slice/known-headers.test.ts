import { copyFile, open, readdir, readFile, rename, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { limits } from '../../../src/core/limits.js';
import type { GgufModel } from '../../../src/gguf/open-model.js';
import { openKnown } from '../../../src/gguf/slice/known-headers.js';
import { openForSlices } from '../../../src/gguf/slice/write-slice.js';
import { writeTinyModel } from '../../../src/gguf/tiny-model.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const folder = temporaryFolder(afterAll);
/** Some days after every file of these tests was written. */
const LATER = Date.now() + 1e9;
/** Its header has 1 MB. */
const vocabulary = 30_000;

let models = 0;
async function model(options: Parameters<typeof writeTinyModel>[1] = {}): Promise<string> {
  models += 1;
  const [path] = await writeTinyModel(join(folder, `model-${models}.gguf`), { layers: 2, hidden: 32, ...options });
  return path;
}

let folders = 0;
function emptyFolder(): string {
  folders += 1;
  return join(folder, `known-${folders}`);
}

async function opened(outcome: ReturnType<typeof openForSlices>): Promise<GgufModel> {
  const model = await outcome;
  if (model.kind === 'refused') throw model.error;
  return model.model;
}

/** All of a model but the words of its vocabulary, which only their number is kept of. */
function wanted({ metadata, ...model }: GgufModel) {
  const { file, entries } = metadata;
  const length = ([key, value]: [string, object]) => [
    key,
    key.startsWith('tokenizer.') && 'items' in value ? metadata.arrayLength(key) : value,
  ];
  return { ...model, file, entries: [...entries].map(length) };
}

/** Bytes that this process has read so far. */
async function readBytes(): Promise<number> {
  return Number((await readFile('/proc/self/io', 'utf8')).match(/rchar: (\d+)/)![1]);
}

test.each([
  ['a file', {}],
  ['shards', { shards: 3 }],
  ['numbers of every kind', { tied: true, chatTemplate: '{{ x }}', version: 2 as const }],
])('%s: what is kept is what the header says', async (_, options) => {
  const path = await model(options);
  const known = emptyFolder();
  const fresh = wanted(await opened(openForSlices(path)));
  expect(wanted(await opened(openKnown(path, known, LATER)))).toEqual(fresh);
  expect(await readdir(known)).toHaveLength(1);
  expect(wanted(await opened(openKnown(path, known, LATER)))).toEqual(fresh);
});

test.skipIf(process.platform !== 'linux')('a header that is known is not read again', async () => {
  const path = await model({ vocabulary });
  const known = emptyFolder();
  const bytes: number[] = [];
  for (let time = 0; time < 2; time++) {
    const before = await readBytes();
    await openKnown(path, known, LATER);
    bytes.push((await readBytes()) - before);
  }
  expect(bytes[0]).toBeGreaterThan(500_000);
  expect(bytes[1]).toBeLessThan(50_000);
});

describe('a model is read again', () => {
  /** Changes one file of a model whose header is known; what is opened then must be what is there. */
  async function changed(path: string, change: () => Promise<void>): Promise<void> {
    const known = emptyFolder();
    const before = await opened(openKnown(path, known, LATER));
    await change();
    const after = await opened(openKnown(path, known, LATER));
    expect(wanted(after)).toEqual(wanted(await opened(openForSlices(path))));
    expect(after.digest).not.toBe(before.digest);
  }

  /** Another letter in `general.name`, of the same length. */
  async function renameModel(path: string): Promise<void> {
    const file = await open(path, 'r+');
    const at = (await readFile(path)).indexOf('tiny');
    await file.write('T', at);
    await file.close();
  }

  test('when it was written to, whatever its time says', async () => {
    const path = await model();
    // A time that can be set again to the nanosecond.
    await utimes(path, 1e9, 1e9);
    await changed(path, async () => {
      await renameModel(path);
      await utimes(path, 1e9, 1e9);
    });
  });

  test('when another file was moved to its place', async () => {
    const path = await model();
    const other = `${path}.other`;
    await copyFile(path, other);
    await renameModel(other);
    for (const file of [path, other]) await utimes(file, 1e9, 1e9);
    await changed(path, () => rename(other, path));
  });

  test('when one of its shards has changed', async () => {
    const path = await model({ shards: 3 });
    await changed(path, async () => {
      const last = path.replace('-00001-', '-00003-');
      await writeFile(last, Buffer.concat([await readFile(last), Buffer.alloc(32)]));
    });
  });
});

test('a file that changed a moment ago may change again within the same tick: nothing is kept of it', async () => {
  const path = await model();
  const known = emptyFolder();
  const { ctimeMs } = await stat(path);
  await openKnown(path, known, Math.floor(ctimeMs) + limits.headerSettledMillis - 1);
  expect(await readdir(known).catch(() => [])).toEqual([]);
  await openKnown(path, known, Math.ceil(ctimeMs) + limits.headerSettledMillis);
  expect(await readdir(known)).toHaveLength(1);
});

test.each([
  ['is cut off', (bytes: Buffer) => bytes.subarray(0, 100)],
  ['has another letter', (bytes: Buffer) => bytes.fill('L', bytes.indexOf('llama'), bytes.indexOf('llama') + 1)],
])('what was kept and %s is read anew', async (_, spoil) => {
  const path = await model();
  const known = emptyFolder();
  const fresh = await opened(openKnown(path, known, LATER));
  const [name] = await readdir(known);
  await writeFile(join(known, name!), spoil(await readFile(join(known, name!))));
  expect(await opened(openKnown(path, known, LATER))).toEqual(fresh);
});

test('a folder holds a bounded number of headers, and a place where none can be is no obstacle', async () => {
  const path = await model();
  const known = emptyFolder();
  await openKnown(path, known, LATER);
  for (let other = 0; other < limits.knownHeaders + 5; other++) await writeFile(join(known, `${other}.header`), '');
  await openKnown(await model(), known, LATER);
  expect(await readdir(known)).toHaveLength(limits.knownHeaders);
  expect((await openKnown(path, join(path, 'no-folder'), LATER)).kind).toBe('opened');
});
