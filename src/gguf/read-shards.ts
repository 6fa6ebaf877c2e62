import { createHash } from 'node:crypto';
import { limits } from '../core/limits.js';
import { parseShardName, type ShardName, shardPath } from '../core/model/shard-name.js';
import { quoted } from '../core/quoted.js';
import type { OpenSource } from './byte-source.js';
import { GgufError } from './gguf-error.js';
import { type GgufHeader, parseHeader } from './read-header.js';

/** One file of a model. */
export interface Shard {
  readonly path: string;
  readonly header: GgufHeader;
}

/** All files of a model, the first one first. */
export interface Shards {
  readonly shards: readonly [Shard, ...Shard[]];
  /**
   * SHA-256 over, per shard in order, the file size (u64 little endian) and the bytes up to the end of the tensor table;
   * 64 hexadecimal digits.
   */
  readonly digest: string;
}

/** Reads the headers of a model, given the path of its file or of its first shard. Throws GgufError. */
export async function readShards(path: string, open: OpenSource, keep: (key: string) => boolean): Promise<Shards> {
  const hash = createHash('sha256');
  const read = async (file: string): Promise<Shard> => {
    const opened = await open(file);
    if (opened.kind === 'refused') throw opened.error;
    try {
      const size = Buffer.alloc(8);
      size.writeBigUInt64LE(BigInt(opened.source.size));
      hash.update(size);
      const header = await parseHeader(opened.source, {
        keep,
        onBytes: (bytes) => hash.update(bytes),
      });
      return { path: file, header };
    } finally {
      await opened.source.close();
    }
  };
  const first = await read(path);
  const shards: [Shard, ...Shard[]] = [first];
  for (const next of otherShards(first)) shards.push(await readShard(next, read));
  checkTensors(shards);
  return { shards, digest: hash.digest('hex') };
}

/** The names of the shards after the first; refuses a first file that is not the first shard of what it belongs to. */
function otherShards({ path, header }: Shard): ShardName[] {
  const count = header.metadata.integer('split.count', 0, limits.ggufShards) ?? 1;
  if (count <= 1) return [];
  const name = parseShardName(path);
  const number = splitNumber(header, path) + 1;
  if (name === undefined || name.count !== count || name.number !== number) {
    throw new GgufError(
      'bad-shard-name',
      `${path} is shard ${number} of ${count}, so its name must end in ` +
        `${shardPath({ prefix: '', number, count })}: give all shards their names back`,
    );
  }
  if (number !== 1) {
    throw new GgufError(
      'not-first-shard',
      `${path} is shard ${number} of ${count}: name the first one, ${shardPath({ ...name, number: 1 })}`,
    );
  }
  return Array.from({ length: count - 1 }, (_, index) => ({
    ...name,
    number: index + 2,
  }));
}

async function readShard(name: ShardName, read: (file: string) => Promise<Shard>): Promise<Shard> {
  const path = shardPath(name);
  const shard = await read(path).catch((error: unknown) => {
    if (!(error instanceof GgufError) || error.kind !== 'missing-file') throw error;
    throw new GgufError(
      'missing-shard',
      `the model has ${name.count} shards, but there is no file ${path}: put it beside the others`,
    );
  });
  const count = shard.header.metadata.integer('split.count', 0, limits.ggufShards);
  if (count !== name.count || splitNumber(shard.header, path) !== name.number - 1) {
    throw new GgufError('shard-mismatch', `${path} belongs to another model or place: fetch all shards again`);
  }
  return shard;
}

/** `split.no`, which counts from 0 where the file names count from 1. */
function splitNumber(header: GgufHeader, path: string): number {
  const key = 'split.no';
  const number = header.metadata.integer(key, 0, limits.ggufShards);
  if (number === undefined) {
    throw new GgufError('missing-key', `${path} is a shard without "${key}": split the model anew`, { key });
  }
  return number;
}

function checkTensors(shards: readonly [Shard, ...Shard[]]): void {
  const [{ path, header }] = shards;
  const names = new Set<string>();
  for (const shard of shards) {
    for (const { name } of shard.header.tensors) {
      if (names.has(name)) {
        throw new GgufError('duplicate-tensor', `${shard.path} repeats the tensor ${quoted(name)} of another shard`, {
          tensor: name,
        });
      }
      names.add(name);
    }
  }
  const expected = header.metadata.integer('split.tensors.count', 0, limits.ggufTensors);
  if (shards.length > 1 && expected !== undefined && expected !== names.size) {
    throw new GgufError(
      'shard-mismatch',
      `${path} announces ${expected} tensors, but its ${shards.length} shards hold ${names.size}: fetch them all again`,
    );
  }
}
