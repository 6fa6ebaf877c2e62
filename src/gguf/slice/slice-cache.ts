import { randomUUID } from 'node:crypto';
import { link, lstat, mkdir, open, readdir, rename, rm, statfs, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { evictSlices, IN_USE, sweepLeftovers } from './slice-eviction.js';
import { digestInName, sliceKey, sliceName } from './slice-name.js';
import { StreamAborted, type TensorStreamOptions, TensorTruncated } from './tensor-stream.js';
import { type SliceSpec, sliceBytes, sliceReadBytes, writeSlice } from './write-slice.js';

export interface SliceCacheOptions {
  /** Made when it is not there. Workers of one node share it; its file system must know hard links. */
  readonly folder: string;
  /** Bytes of all slices together at most, those in use included. */
  readonly maxBytes: number;
}

/** A slice in use: it stays until it is released, or this process has ended. */
export interface HeldSlice {
  readonly kind: 'held';
  readonly path: string;
  /** Bytes of the model that the stage reads. */
  readonly bytesRead: number;
  /** SHA-256 of those bytes, in the order of the model's files. */
  readonly bytesDigest: string;
  /** False when it had to be written first. */
  readonly reused: boolean;
  release(): Promise<void>;
}

export type TakenSlice =
  | HeldSlice
  | { readonly kind: 'aborted' }
  /** The folder's bound or its disk has no room; the sentence names how much is missing. */
  | { readonly kind: 'no-room'; readonly message: string }
  | { readonly kind: 'failed'; readonly message: string };

/**
 * The slices of a node, kept from run to run and dropped, least recently used first, when they would take too much room
 * (I16). Whoever uses a slice holds a hard link of its own to it. That works among processes without any lock: a link
 * either comes to be or finds the slice gone, a file with a second link is in use, and the links of a process that died
 * are known by its number.
 */
export class SliceCache {
  constructor(readonly options: SliceCacheOptions) {}

  /** Finds the slice or writes it, and holds it. */
  async take(spec: SliceSpec, options: TensorStreamOptions = {}): Promise<TakenSlice> {
    const { folder } = this.options;
    try {
      // What lies here is computed with as it is: nobody else may put something in.
      await mkdir(join(folder, IN_USE), { recursive: true, mode: 0o700 });
      if (!(await lstat(join(folder, IN_USE))).isDirectory()) {
        return { kind: 'failed', message: `${join(folder, IN_USE)} is a link and leads elsewhere: remove it` };
      }
      await sweepLeftovers(folder);
      const key = await sliceKey(spec);
      return (await this.#find(spec, key)) ?? (await this.#make(spec, key, options));
    } catch (error) {
      return outcomeOf(error, folder, sliceBytes(spec));
    }
  }

  async #find(spec: SliceSpec, key: string): Promise<HeldSlice | undefined> {
    for (const file of await readdir(this.options.folder)) {
      const digest = digestInName(file, key);
      const held = digest === undefined ? undefined : await this.#hold(spec, file, digest, true);
      if (held !== undefined) return held;
    }
    return undefined;
  }

  async #make(spec: SliceSpec, key: string, options: TensorStreamOptions): Promise<TakenSlice> {
    const { folder } = this.options;
    const message = await this.#makeRoom(sliceBytes(spec));
    if (message !== undefined) return { kind: 'no-room', message };
    // Two workers may write the same slice at once: each under a name of its own, and the last one stays.
    const draft = join(folder, `${process.pid}-${randomUUID()}.draft`);
    try {
      const digest = await writeSlice(draft, spec, options);
      await flush(draft);
      const file = sliceName(key, digest);
      await rename(draft, join(folder, file));
      const held = await this.#hold(spec, file, digest, false);
      return (
        held ?? { kind: 'failed', message: `the slice ${join(folder, file)} was removed while it was taken: try again` }
      );
    } finally {
      await rm(draft, { force: true });
    }
  }

  async #hold(spec: SliceSpec, file: string, bytesDigest: string, reused: boolean): Promise<HeldSlice | undefined> {
    const { folder } = this.options;
    const path = join(folder, IN_USE, `${process.pid}-${randomUUID()}.gguf`);
    try {
      await link(join(folder, file), path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
    // A hard link to a link is that link: what it leads to is no slice of ours.
    if (!(await lstat(path)).isFile()) {
      await rm(path, { force: true });
      return undefined;
    }
    const now = new Date();
    await utimes(path, now, now);
    return {
      kind: 'held',
      path,
      bytesRead: sliceReadBytes(spec),
      bytesDigest,
      reused,
      release: () => rm(path, { force: true }),
    };
  }

  /** A sentence when there is no room for `bytes` more, whatever is dropped. */
  async #makeRoom(bytes: number): Promise<string | undefined> {
    const { folder, maxBytes } = this.options;
    const over = await evictSlices(folder, maxBytes - bytes);
    if (over > 0) {
      return (
        `a slice of ${bytes} bytes does not fit in ${folder}, which may hold ${maxBytes} bytes: ` +
        `allow ${over} bytes more, or stop a stage on this node`
      );
    }
    const { bavail, bsize } = await statfs(folder);
    if (bavail * bsize >= bytes) return undefined;
    return `a slice of ${bytes} bytes does not fit on the disk of ${folder}, which has ${bavail * bsize} left: free some`;
  }
}

/** Power may fail after the rename; the name must not outlive the bytes. */
async function flush(path: string): Promise<void> {
  const handle = await open(path, 'r+');
  await handle.sync().finally(() => handle.close());
}

function outcomeOf(error: unknown, folder: string, bytes: number): TakenSlice {
  if (error instanceof StreamAborted) return { kind: 'aborted' };
  if (error instanceof TensorTruncated) return { kind: 'failed', message: error.message };
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG') {
    const message = `the disk of ${folder} became full while a slice of ${bytes} bytes was written: free some of it`;
    return { kind: 'no-room', message };
  }
  return { kind: 'failed', message: `no slice could be made in ${folder}: ${error}` };
}
