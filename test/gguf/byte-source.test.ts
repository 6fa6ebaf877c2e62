import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openFileSource } from '../../src/gguf/byte-source.js';
import { GgufError } from '../../src/gguf/gguf-error.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const folder = temporaryFolder(afterAll);
const isWindows = process.platform === 'win32';

async function refusalOf(path: string): Promise<GgufError> {
  const opened = await openFileSource(path);
  if (opened.kind === 'opened') throw new Error(`${path} was opened`);
  return opened.error;
}

async function sourceOf(path: string) {
  const opened = await openFileSource(path);
  if (opened.kind === 'refused') throw opened.error;
  return opened.source;
}

describe('a regular file', () => {
  it('is read by range, exactly', async () => {
    const path = join(folder, 'plain');
    writeFileSync(path, 'abcdefgh');
    const source = await sourceOf(path);
    expect(source.size).toBe(8);
    expect(Buffer.from(await source.read(2, 3)).toString()).toBe('cde');
    expect(await source.read(8, 0)).toHaveLength(0);
    await source.close();
  });

  it('that became shorter meanwhile says so', async () => {
    const path = join(folder, 'shrinking');
    writeFileSync(path, 'abcdefgh');
    const source = await sourceOf(path);
    truncateSync(path, 4);
    const error = await source.read(0, 8).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(GgufError);
    expect(error).toMatchObject({ kind: 'truncated', message: expect.stringContaining('became shorter') });
    await source.close();
  });
});

describe('anything else is refused with a sentence, at once', () => {
  it('a directory', async () => {
    const path = join(folder, 'directory.gguf');
    mkdirSync(path);
    expect(await refusalOf(path)).toMatchObject({ kind: 'not-a-file', message: expect.stringContaining('directory') });
  });

  it.skipIf(isWindows)('a FIFO that nobody writes to', async () => {
    const path = join(folder, 'fifo.gguf');
    execFileSync('mkfifo', [path]);
    expect(await refusalOf(path)).toMatchObject({ kind: 'not-a-file', message: expect.stringContaining('FIFO') });
  });

  it.skipIf(isWindows)('a socket and a device', async () => {
    const path = join(folder, 'socket.gguf');
    const server = createServer();
    await new Promise<void>((listening) => server.listen(path, listening));
    expect(await refusalOf(path)).toMatchObject({ kind: 'not-a-file', message: expect.stringContaining('socket') });
    await new Promise((closed) => server.close(closed));
    expect(await refusalOf('/dev/zero')).toMatchObject({ kind: 'not-a-file' });
  });

  it('a missing file, also below a file', async () => {
    const path = join(folder, 'missing.gguf');
    expect(await refusalOf(path)).toMatchObject({ kind: 'missing-file', message: expect.stringContaining(path) });
    writeFileSync(join(folder, 'a-file'), '');
    expect(await refusalOf(join(folder, 'a-file', 'x.gguf'))).toMatchObject({ kind: 'missing-file' });
    expect(await refusalOf('')).toMatchObject({ kind: 'missing-file' });
  });

  it.skipIf(isWindows)('a circle of links, and a path with a zero in it', async () => {
    const path = join(folder, 'circle.gguf');
    symlinkSync(path, path);
    expect(await refusalOf(path)).toMatchObject({ kind: 'unreadable-file' });
    expect(await refusalOf('a\0b')).toMatchObject({ kind: 'unreadable-file' });
  });

  it.skipIf(isWindows || process.getuid?.() === 0)('a file of somebody else', async () => {
    const path = join(folder, 'private.gguf');
    writeFileSync(path, 'x');
    chmodSync(path, 0);
    expect(await refusalOf(path)).toMatchObject({
      kind: 'unreadable-file',
      message: expect.stringContaining('permissions'),
    });
  });
});
