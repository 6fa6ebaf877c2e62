import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import { limits } from '../../core/limits.js';
import { parseShardName, shardPath } from '../../core/model/shard-name.js';
import { version } from '../../version.js';
import { Metadata, type MetadataValue } from '../metadata.js';
import type { GgufModel } from '../open-model.js';
import { keptForSlices, openForSlices } from './write-slice.js';

/** Grows whenever a header would be read as another `GgufModel`, so that what earlier code has kept is read anew. */
const READER_VERSION = 1;
const DIGEST_BYTES = 32;
const SUFFIX = '.header';

/** All that the kernel tells of a file's content without reading it. Nobody can set `changed` back. */
interface FileState {
  readonly path: string;
  readonly device: bigint;
  readonly inode: bigint;
  readonly size: bigint;
  readonly modified: bigint;
  readonly changed: bigint;
}

/** What is kept: data alone, without the classes around it. */
interface Kept {
  readonly files: readonly FileState[];
  readonly model: Omit<GgufModel, 'metadata'>;
  readonly entries: Metadata['entries'];
}

/**
 * Opens a model as `openForSlices` does, but of the tokenizer's arrays gives the lengths alone, and keeps that in `folder`:
 * a vocabulary of some MB is in every header, no stage needs it, and each stage of each run on a node would read it again.
 * What is kept counts as long as no file of the model was written to, moved or replaced since; and it is not kept of files
 * that changed a moment ago, which might change again within the same tick of their clock. A folder that cannot be used
 * costs time and nothing else.
 *
 * @param now milliseconds since 1970 by the clock of the model's file system
 */
export async function openKnown(path: string, folder: string, now = Date.now()): ReturnType<typeof openForSlices> {
  const file = join(folder, keptName(path));
  const known = await recall(file).catch(() => undefined);
  if (known !== undefined) return { kind: 'opened', model: known };
  const opened = await openForSlices(path);
  if (opened.kind === 'refused') return opened;
  const model = withoutVocabulary(opened.model);
  await keep(file, folder, model, now).catch(() => {});
  return { kind: 'opened', model };
}

/** Shorter numbers of each token are read like those of each layer; here they would be most of what is kept. */
function withoutVocabulary(model: GgufModel): GgufModel {
  const entries = [...model.metadata.entries].map(([key, value]): [string, MetadataValue] =>
    'items' in value && !keptForSlices(key) ? [key, { ...value, items: undefined }] : [key, value],
  );
  return { ...model, metadata: new Metadata(model.path, new Map(entries)) };
}

/** Throws when there is nothing, or nothing of use. */
async function recall(file: string): Promise<GgufModel | undefined> {
  const bytes = await readFile(file);
  const body = bytes.subarray(DIGEST_BYTES);
  // Power may have failed while it was written.
  if (!digestOf(body).equals(bytes.subarray(0, DIGEST_BYTES))) return undefined;
  const { files, model, entries }: Kept = deserialize(body);
  const states = await Promise.all(files.map(({ path }) => stateOf(path)));
  const isSame = states.every((state, at) =>
    Object.entries(files[at]!).every(([what, was]) => was === state[what as keyof FileState]),
  );
  return isSame ? { ...model, metadata: new Metadata(model.path, entries) } : undefined;
}

async function keep(file: string, folder: string, { metadata, ...model }: GgufModel, now: number): Promise<void> {
  // After the header was read: a change in the meantime shows as one of a moment ago.
  const files = await Promise.all(filesOf(model).map(stateOf));
  const settled = BigInt(now - limits.headerSettledMillis) * 1_000_000n;
  if (files.some(({ changed, modified }) => changed > settled || modified > settled)) return;
  const body = serialize({ files, model, entries: metadata.entries } satisfies Kept);
  if (body.length > limits.knownHeaderBytes) return;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await makeRoom(folder);
  const draft = join(folder, `${process.pid}-${randomUUID()}.draft`);
  try {
    await writeFile(draft, Buffer.concat([digestOf(body), body]), { mode: 0o600 });
    await rename(draft, file);
  } finally {
    await rm(draft, { force: true });
  }
}

/** Any of them may go: what is missed is read again. */
async function makeRoom(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(SUFFIX));
  for (const name of names.slice(limits.knownHeaders - 1)) await rm(join(folder, name), { force: true });
}

function filesOf({ path, shardCount }: Pick<GgufModel, 'path' | 'shardCount'>): string[] {
  const name = parseShardName(path);
  if (name === undefined) return [path];
  return Array.from({ length: shardCount }, (_, index) => shardPath({ ...name, number: index + 1 }));
}

async function stateOf(path: string): Promise<FileState> {
  const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
  return { path, device: dev, inode: ino, size, modified: mtimeNs, changed: ctimeNs };
}

function keptName(path: string): string {
  return `${digestOf(JSON.stringify([READER_VERSION, version, path])).toString('hex')}${SUFFIX}`;
}

function digestOf(bytes: string | Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}
