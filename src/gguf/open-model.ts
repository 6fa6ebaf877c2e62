import { limits } from '../core/limits.js';
import { quoted } from '../core/quoted.js';
import { type TensorGroup, tensorGroup } from '../core/tensors/tensor-group.js';
import { type OpenSource, openFileSource } from './byte-source.js';
import { GgufError, type Refused, refusing } from './gguf-error.js';
import type { Metadata } from './metadata.js';
import type { GgufVersion } from './read-header.js';
import { readShards, type Shard } from './read-shards.js';
import type { PlacedTensor } from './tensor-placement.js';

/** A tensor of a model: which file, where in it, and who needs it. */
export interface ModelTensor extends PlacedTensor {
  /** Path of the file that holds it; `offset` counts from its start. */
  readonly path: string;
  readonly group: TensorGroup;
}

/** A model as its header describes it, over all its shards. Holds no open file. */
export interface GgufModel {
  /** The path that was opened: the file, or the first shard. */
  readonly path: string;
  readonly version: GgufVersion;
  /** Of the first shard, which alone has the model's keys. */
  readonly metadata: Metadata;
  /** `general.architecture`, such as "llama". */
  readonly architecture: string;
  /** `<arch>.block_count` minus `<arch>.nextn_predict_layers`; at least 1. */
  readonly numLayers: number;
  /** In the order of the shards and of each file. */
  readonly tensors: readonly ModelTensor[];
  /** True when the file has an embedding but no `output.weight`: the head is the embedding again. */
  readonly tied: boolean;
  /** See `ModelInspection.digest`. */
  readonly digest: string;
  /** Bytes of all shards. */
  readonly fileBytes: number;
  readonly shardCount: number;
}

export interface OpenModelOptions {
  /** Keys whose arrays and strings are kept whatever their size, such as `tokenizer.ggml.tokens`. Default: none. */
  readonly keep?: (key: string) => boolean;
  /** Where the bytes come from. Default: local files. */
  readonly open?: OpenSource;
}

/** Reads the header of a model, single or split, and indexes its tensors. `path` names the file or its first shard. */
export function openModel(
  path: string,
  options: OpenModelOptions = {},
): Promise<{ kind: 'opened'; model: GgufModel } | Refused> {
  return refusing(async () => {
    const { shards, digest } = await readShards(path, options.open ?? openFileSource, options.keep ?? (() => false));
    const [{ header }] = shards;
    const architecture = architectureOf(header.metadata);
    const numLayers = layersOf(header.metadata, architecture);
    const tensors = shards.flatMap((shard) => tensorsOf(shard, numLayers));
    const model: GgufModel = {
      path,
      version: header.version,
      metadata: header.metadata,
      architecture,
      numLayers,
      tensors,
      tied: tensors.some(({ group }) => group.kind === 'embedding') && !tensors.some(({ name }) => name === HEAD),
      digest,
      fileBytes: shards.reduce((sum, shard) => sum + shard.header.fileBytes, 0),
      shardCount: shards.length,
    };
    return { kind: 'opened' as const, model };
  });
}

const HEAD = 'output.weight';

function tensorsOf({ path, header }: Shard, numLayers: number): ModelTensor[] {
  return header.tensors.map((tensor) => ({
    ...tensor,
    path,
    group: tensorGroup(tensor.name, numLayers),
  }));
}

function architectureOf(metadata: Metadata): string {
  const type = metadata.text('general.type');
  if (type === 'adapter' || type === 'mmproj' || type === 'imatrix') {
    throw new GgufError(
      'not-a-model',
      `${metadata.file} holds a model's ${type}, not the model: name the model's file`,
    );
  }
  const key = 'general.architecture';
  const architecture = metadata.text(key);
  if (architecture === undefined || architecture === '') {
    throw new GgufError('missing-key', `${metadata.file} has no "${key}", so it is no model: name another file`, {
      key,
    });
  }
  return architecture;
}

function layersOf(metadata: Metadata, architecture: string): number {
  const blocks = metadata.requiredInteger(`${architecture}.block_count`, 1, limits.ggufLayers);
  const key = `${architecture}.nextn_predict_layers`;
  const predicting = metadata.integer(key, 0, limits.ggufLayers) ?? 0;
  if (predicting >= blocks) {
    throw new GgufError(
      'bad-value',
      `${metadata.file}: ${quoted(key)} is ${predicting}, but the model has only ${blocks} layers: convert it anew`,
      { key },
    );
  }
  return blocks - predicting;
}
