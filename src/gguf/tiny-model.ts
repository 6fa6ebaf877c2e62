import { shardPath } from '../core/model/shard-name.js';
import type { WritableTensor, WritableValue } from './encode-header.js';
import type { GgufVersion } from './read-header.js';
import { seededFloats } from './seeded-floats.js';
import { BEGIN_TOKEN, END_TOKEN, LEAST_VOCABULARY, tinyVocabulary, UNKNOWN_TOKEN } from './tiny-vocabulary.js';
import { type WritableTensorData, writeGguf } from './write-gguf.js';

/** What the tiny model is like. All numbers are at least 1. */
export interface TinyModelOptions {
  /** Default 8. */
  readonly layers?: number;
  /** Width of a row, in elements; a multiple of twice `heads`. Default 64. */
  readonly hidden?: number;
  /** Width of the feed-forward part, in elements. Default 176. */
  readonly feedForward?: number;
  /** Attention heads; a multiple of `headsKv`. Default 4. */
  readonly heads?: number;
  /** Heads of keys and values. Default 2. */
  readonly headsKv?: number;
  /** Tokens, at least 260. Default 512. */
  readonly vocabulary?: number;
  /** Tokens of a conversation. Default 2048. */
  readonly contextLength?: number;
  /** The same seed gives the same weights, however the model is split. Default 1. */
  readonly seed?: number;
  /** Leave out `output.weight`. Default false. */
  readonly tied?: boolean;
  /** GGUF version; llama.cpp no longer reads 1. Default 3. */
  readonly version?: GgufVersion;
  /** Above 1, `path` "x.gguf" becomes "x-00001-of-0000n.gguf" and so on. Default 1. */
  readonly shards?: number;
  /** `general.name`. Default "stageplane-tiny". */
  readonly name?: string;
  /** Jinja source of `tokenizer.chat_template`. Default none. */
  readonly chatTemplate?: string;
}

type TinyModel = Required<TinyModelOptions>;
type Metadata = [key: string, value: WritableValue][];

const defaults: TinyModel = {
  layers: 8,
  hidden: 64,
  feedForward: 176,
  heads: 4,
  headsKv: 2,
  vocabulary: 512,
  contextLength: 2048,
  seed: 1,
  tied: false,
  version: 3,
  shards: 1,
  name: 'stageplane-tiny',
  chatTemplate: '',
};

/**
 * Writes a small model of the llama architecture with pseudo-random F32 weights and a tokenizer: valid, quick to make
 * and of no use but to show and test what is done to models. About 1.5 MB by default. Gives the paths of its files,
 * first shard first. Throws RangeError when the options contradict each other.
 */
export async function writeTinyModel(path: string, options: TinyModelOptions = {}): Promise<[string, ...string[]]> {
  const model: TinyModel = { ...defaults, ...options };
  refuseContradictions(model);
  const tensors = modelTensors(model).map((tensor) => ({
    ...tensor,
    data: () => weights(model.seed, tensor),
  }));
  const { version, shards } = model;
  if (shards === 1) {
    await writeGguf(path, { version, metadata: modelMetadata(model), tensors });
    return [path];
  }
  const prefix = path.replace(/\.gguf$/, '');
  const paths = Array.from({ length: shards }, (_, no) => shardPath({ prefix, number: no + 1, count: shards }));
  for (const [no, shard] of paths.entries()) {
    const metadata = [...(no === 0 ? modelMetadata(model) : []), ...splitMetadata(no, shards, tensors.length)];
    await writeGguf(shard, {
      version,
      metadata,
      tensors: shareOf(tensors, no, shards),
    });
  }
  return paths as [string, ...string[]];
}

function refuseContradictions({ hidden, heads, headsKv, vocabulary, shards }: TinyModel): void {
  if (hidden % (2 * heads) !== 0) throw new RangeError(`hidden ${hidden} is no multiple of twice the ${heads} heads`);
  if (heads % headsKv !== 0) throw new RangeError(`${heads} heads are no multiple of ${headsKv} key-value heads`);
  if (vocabulary < LEAST_VOCABULARY) throw new RangeError(`a vocabulary has at least ${LEAST_VOCABULARY} tokens`);
  if (shards > 99_999) throw new RangeError(`${shards} shards are more than their names can count`);
}

function modelMetadata(model: TinyModel): Metadata {
  const { tokens, scores, types } = tinyVocabulary(model.vocabulary);
  const uint32 = (value: number): WritableValue => ({ type: 'uint32', value });
  return [
    ['general.architecture', { type: 'string', value: 'llama' }],
    ['general.name', { type: 'string', value: model.name }],
    ['llama.block_count', uint32(model.layers)],
    ['llama.context_length', uint32(model.contextLength)],
    ['llama.embedding_length', uint32(model.hidden)],
    ['llama.feed_forward_length', uint32(model.feedForward)],
    ['llama.attention.head_count', uint32(model.heads)],
    ['llama.attention.head_count_kv', uint32(model.headsKv)],
    ['llama.attention.layer_norm_rms_epsilon', { type: 'float32', value: 1e-5 }],
    ['llama.rope.dimension_count', uint32(model.hidden / model.heads)],
    ['llama.vocab_size', uint32(model.vocabulary)],
    ['general.file_type', uint32(0)],
    ['tokenizer.ggml.model', { type: 'string', value: 'llama' }],
    ['tokenizer.ggml.pre', { type: 'string', value: 'default' }],
    ['tokenizer.ggml.tokens', { type: 'array', elements: 'string', items: tokens }],
    ['tokenizer.ggml.scores', { type: 'array', elements: 'float32', items: scores }],
    ['tokenizer.ggml.token_type', { type: 'array', elements: 'int32', items: types }],
    ['tokenizer.ggml.bos_token_id', uint32(BEGIN_TOKEN)],
    ['tokenizer.ggml.eos_token_id', uint32(END_TOKEN)],
    ['tokenizer.ggml.unknown_token_id', uint32(UNKNOWN_TOKEN)],
    ['tokenizer.ggml.add_bos_token', { type: 'bool', value: true }],
    ['tokenizer.ggml.add_eos_token', { type: 'bool', value: false }],
    ...chatMetadata(model.chatTemplate),
  ];
}

function chatMetadata(template: string): Metadata {
  return template === '' ? [] : [['tokenizer.chat_template', { type: 'string', value: template }]];
}

function splitMetadata(no: number, count: number, tensors: number): Metadata {
  return [
    ['split.no', { type: 'uint16', value: no }],
    ['split.count', { type: 'uint16', value: count }],
    ['split.tensors.count', { type: 'int32', value: tensors }],
  ];
}

function modelTensors({ layers, hidden, feedForward, heads, headsKv, vocabulary, tied }: TinyModel): WritableTensor[] {
  const tensor = (name: string, ...dims: number[]): WritableTensor => ({
    name: `${name}.weight`,
    type: 'F32',
    dims,
  });
  const hiddenKv = (hidden / heads) * headsKv;
  const layer = (index: number): WritableTensor[] => [
    tensor(`blk.${index}.attn_norm`, hidden),
    tensor(`blk.${index}.attn_q`, hidden, hidden),
    tensor(`blk.${index}.attn_k`, hidden, hiddenKv),
    tensor(`blk.${index}.attn_v`, hidden, hiddenKv),
    tensor(`blk.${index}.attn_output`, hidden, hidden),
    tensor(`blk.${index}.ffn_norm`, hidden),
    tensor(`blk.${index}.ffn_gate`, hidden, feedForward),
    tensor(`blk.${index}.ffn_up`, hidden, feedForward),
    tensor(`blk.${index}.ffn_down`, feedForward, hidden),
  ];
  return [
    tensor('token_embd', hidden, vocabulary),
    ...Array.from({ length: layers }, (_, index) => layer(index)).flat(),
    tensor('output_norm', hidden),
    ...(tied ? [] : [tensor('output', hidden, vocabulary)]),
  ];
}

/** Shard `no` of `count`: runs of tensors of equal number, in order. */
function shareOf(tensors: readonly WritableTensorData[], no: number, count: number): readonly WritableTensorData[] {
  const bound = (shard: number) => Math.floor((tensors.length * shard) / count);
  return tensors.slice(bound(no), bound(no + 1));
}

/**
 * Norms near 1, matrices scaled by their input's width so that activations keep their size. The embedding is quieter than
 * the layers: otherwise the last token alone decides the next one, and a conversation soon repeats itself.
 */
function weights(seed: number, { name, dims }: WritableTensor): Iterable<Uint8Array> {
  const [width = 1] = dims;
  const isNorm = dims.length === 1;
  const loudness = name.startsWith('token_embd') ? 0.5 : 3;
  return seededFloats(`${seed} ${name}`, {
    count: dims.reduce((product, extent) => product * extent, 1),
    center: isNorm ? 1 : 0,
    spread: isNorm ? 0.1 : loudness / Math.sqrt(width),
  });
}
