import { DEFAULT_ALIGNMENT, padded } from './alignment.js';
import type { ByteSource } from './byte-source.js';
import { FRONT_BYTES, foreignFile } from './foreign-file.js';
import { GgufError, type Refused, refusing } from './gguf-error.js';
import { HeaderCursor } from './header-cursor.js';
import { Metadata } from './metadata.js';
import { readMetadata } from './read-metadata.js';
import { readTensorTable } from './read-tensor-table.js';
import { type PlacedTensor, placeTensors } from './tensor-placement.js';

export type GgufVersion = 1 | 2 | 3;

/** Everything before the tensor data of one file. */
export interface GgufHeader {
  readonly version: GgufVersion;
  readonly metadata: Metadata;
  /** In the order of the file. */
  readonly tensors: readonly PlacedTensor[];
  /** Bytes; a power of two. */
  readonly alignment: number;
  /** Bytes up to the end of the tensor table. */
  readonly tableEnd: number;
  /** Bytes of the whole file. */
  readonly fileBytes: number;
}

export interface ReadHeaderOptions {
  /** Keys whose arrays and strings are kept whatever their size. Default: none. */
  readonly keep?: (key: string) => boolean;
  /** Is given the bytes up to `tableEnd`, in order, each once. */
  readonly onBytes?: (bytes: Uint8Array) => void;
}

const MAGIC = 'GGUF';

/**
 * Reads and checks the header of one GGUF file, version 1 to 3, little endian. Time and memory grow with the header,
 * never with what it claims.
 */
export function readHeader(
  source: ByteSource,
  options: ReadHeaderOptions = {},
): Promise<{ kind: 'read'; header: GgufHeader } | Refused> {
  return refusing(async () => ({
    kind: 'read' as const,
    header: await parseHeader(source, options),
  }));
}

/** The same, throwing GgufError: for the readers of this folder that go on with the header. */
export async function parseHeader(source: ByteSource, options: ReadHeaderOptions = {}): Promise<GgufHeader> {
  const cursor = new HeaderCursor(source, options.onBytes);
  const version = await readVersion(cursor);
  cursor.lengthBytes = version === 1 ? 4 : 8;
  cursor.place = { what: 'its counts' };
  const tensorCount = await cursor.length();
  const keyCount = await cursor.length();
  const metadata = new Metadata(source.name, await readMetadata(cursor, keyCount, options.keep ?? (() => false)));
  const alignment = alignmentOf(metadata);
  const rows = await readTensorTable(cursor, tensorCount);
  cursor.finish();
  const tableEnd = cursor.offset;
  const start = padded(tableEnd, alignment);
  const tensors = placeTensors({ file: source.name, fileBytes: source.size, start, alignment }, rows);
  return {
    version,
    metadata,
    tensors,
    alignment,
    tableEnd,
    fileBytes: source.size,
  };
}

async function readVersion(cursor: HeaderCursor): Promise<GgufVersion> {
  const front = await cursor.peek(FRONT_BYTES);
  if (Buffer.from(front.subarray(0, 4)).toString('latin1') !== MAGIC) throw foreignFile(cursor.source.name, front);
  await cursor.skip(MAGIC.length);
  const version = await cursor.uint32();
  if (version === 1 || version === 2 || version === 3) return version;
  // Read in the wrong byte order a small version has its bytes at the other end.
  if (version !== 0 && (version & 0xffff) === 0) {
    throw cursor.error('big-endian', 'is a big-endian GGUF file: convert the model for little-endian machines');
  }
  throw cursor.error('unsupported-version', `has GGUF version ${version}, not 1 to 3: convert the model anew`);
}

/** `general.alignment`, which ggml reads as uint32 and nothing else. */
function alignmentOf(metadata: Metadata): number {
  const key = 'general.alignment';
  const value = metadata.entries.get(key);
  if (value === undefined) return DEFAULT_ALIGNMENT;
  const alignment = value.kind === 'number' && value.type === 'uint32' ? Number(value.value) : 0;
  if (alignment === 0 || !Number.isInteger(Math.log2(alignment))) {
    throw new GgufError(
      'bad-alignment',
      `${metadata.file}: "${key}" must be a uint32 that is a power of two: convert the model anew`,
      { key },
    );
  }
  return alignment;
}
