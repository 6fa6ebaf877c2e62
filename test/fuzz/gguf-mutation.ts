import { RawBytes } from '../gguf/raw-bytes.js';
import type { Random } from '../sim/random.js';
import { type FuzzedFile, packFiles, unpackFiles } from './gguf-files.js';
import { ggufLayout, type Piece } from './gguf-layout.js';
import { hostileNumbers, mutateBytes, putNumber, splice } from './mutate-bytes.js';

const hostileTexts = ['', '\0', '__proto__', 'blk.0.x', 'blk.99999999999999999999.x', 'é\ud800', 'general.alignment'];
const knownKeys = [
  ...['general.architecture', 'general.type', 'general.name', 'general.alignment', 'tokenizer.ggml.eos_token_id'],
  ...['split.count', 'split.no', 'split.tensors.count', 'tokenizer.ggml.model', 'tokenizer.ggml.tokens'],
  ...['block_count', 'context_length', 'embedding_length', 'vocab_size', 'nextn_predict_layers', 'expert_count'].map(
    (name) => `llama.${name}`,
  ),
  ...['head_count', 'head_count_kv', 'key_length', 'sliding_window', 'sliding_window_pattern', 'causal'].map(
    (name) => `gemma3.attention.${name}`,
  ),
  ...['llama.ssm.state_size', 'deepseek2.leading_dense_block_count', 'gemma3.rope.dimension_sections'],
];
const architectures = ['llama', 'gemma2', 'gemma3', 'deepseek2', 'glm4moe', 'gpt-oss', 'granite', 'mamba', '__proto__'];

/** Up to four changes in the files of a model. */
export function mutateGguf(input: Buffer, random: Random): Buffer {
  let files = unpackFiles(input);
  for (let changes = random.int(1, 4); changes > 0; changes--) {
    files = random.chance(0.06) ? mutateShards(files, random) : mutateOne(files, random);
  }
  return packFiles(files);
}

function mutateShards(files: readonly FuzzedFile[], random: Random): FuzzedFile[] {
  const file = random.pick(files.length === 0 ? [{ bytes: Buffer.alloc(0), zeros: 0 }] : files);
  switch (random.int(0, 2)) {
    case 0:
      return [...files, file];
    case 1:
      return files.filter((other) => other !== file);
    default:
      return files.toReversed();
  }
}

function mutateOne(files: readonly FuzzedFile[], random: Random): FuzzedFile[] {
  const chosen = random.int(0, files.length - 1);
  return files.map((file, index) => {
    if (index !== chosen) return file;
    if (random.chance(0.02)) return { ...file, zeros: random.pick([0, 1, 64, 65_536]) };
    const bytes = Buffer.from(file.bytes);
    return { ...file, bytes: random.chance(0.2) ? mutateBytes(bytes, random) : mutateHeader(bytes, random) };
  });
}

function mutateHeader(file: Buffer, random: Random): Buffer {
  const pieces = ggufLayout(file);
  if (pieces.length < 4) return mutateBytes(file, random);
  const piece = random.pick(pieces);
  switch (piece.kind) {
    case 'text':
      return replaceText(file, piece, random);
    case 'pair':
    case 'row':
      return changeWhole(file, piece, pieces, random);
    default:
      if (random.chance(0.1)) return addPair(file, random);
      putNumber(file, piece.at, piece.bytes, newNumber(file, piece, pieces, random));
      return file;
  }
}

/** One beside what is there, what another piece of the kind has, or one that is known to hurt. */
function newNumber(file: Buffer, piece: Piece, pieces: readonly Piece[], random: Random): bigint {
  const read = ({ at, bytes }: Piece) =>
    bytes === 8 ? file.readBigUInt64LE(at) : BigInt(file.readUIntLE(at, bytes as 1 | 2 | 4));
  if (random.chance(0.25)) return read(random.pick(pieces.filter(({ kind }) => kind === piece.kind)));
  if (random.chance(0.3)) return read(piece) + random.pick([-32n, -1n, 1n, 32n]);
  return random.pick(hostileNumbers);
}

function replaceText(file: Buffer, piece: Piece, random: Random): Buffer {
  const text = random.pick([
    ...hostileTexts,
    ...knownKeys,
    ...architectures,
    'x'.repeat(random.pick([64, 256, 70_000])),
  ]);
  const bytes = Buffer.from(text);
  const length = random.chance(0.9) ? bytes.length : piece.bytes;
  putNumber(file, piece.at - lengthBytes(file), lengthBytes(file), BigInt(length));
  return splice(file, piece.at, piece.bytes, bytes);
}

/** Twice, away, or in the place of another; mostly with the count that belongs to it. */
function changeWhole(file: Buffer, piece: Piece, pieces: readonly Piece[], random: Random): Buffer {
  const bytes = Buffer.from(file.subarray(piece.at, piece.at + piece.bytes));
  const other = random.pick(pieces.filter(({ kind }) => kind === piece.kind));
  switch (random.int(0, 2)) {
    case 0:
      if (random.chance(0.9)) addToCount(file, piece.kind, 1n);
      return splice(file, other.at, 0, bytes);
    case 1:
      if (random.chance(0.9)) addToCount(file, piece.kind, -1n);
      return splice(file, piece.at, piece.bytes, new Uint8Array());
    default:
      return splice(file, other.at, other.bytes, bytes);
  }
}

function addPair(file: Buffer, random: Random): Buffer {
  addToCount(file, 'pair', 1n);
  const value = new RawBytes();
  const key = random.pick(knownKeys);
  switch (random.int(0, 4)) {
    case 0:
      value.u32(8).string(random.pick([...architectures, ...hostileTexts, 'adapter', 'x'.repeat(5000)]));
      break;
    case 1: {
      value.u32(9);
      for (let depth = random.pick([1, 2, 500]); depth > 0; depth--) value.u32(9).u64(1);
      value.u32(4).u64(0);
      break;
    }
    case 2: {
      const length = random.pick([0, 1, 2, 3, 64]);
      value.u32(9).u32(4).u64(length);
      for (let index = 0; index < length; index++) value.u32(random.int(0, 3));
      break;
    }
    case 3:
      value.u32(random.pick([10, 11, 12])).u64(BigInt.asUintN(64, random.pick(hostileNumbers)));
      break;
    default:
      value.u32(random.pick([4, 5, 6])).u32(Number(BigInt.asUintN(32, random.pick(hostileNumbers))));
  }
  const pair = Buffer.concat([new RawBytes().string(key).build(), value.build()]);
  return splice(file, 8 + 2 * lengthBytes(file), 0, pair);
}

function addToCount(file: Buffer, kind: 'pair' | 'row' | Piece['kind'], by: bigint): void {
  const bytes = lengthBytes(file);
  const at = kind === 'pair' ? 8 + bytes : 8;
  const count = bytes === 8 ? file.readBigUInt64LE(at) : BigInt(file.readUInt32LE(at));
  putNumber(file, at, bytes, count + by);
}

function lengthBytes(file: Buffer): 4 | 8 {
  return file.readUInt32LE(4) === 1 ? 4 : 8;
}
