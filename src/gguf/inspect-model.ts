import { basename } from 'node:path';
import { DtypeFamily, type ModelFacts, type ModelInspection, type TensorFacts } from '../../gen/stageplane/v1/model.js';
import { clipText } from '../core/clip-text.js';
import { limits } from '../core/limits.js';
import { parseShardName } from '../core/model/shard-name.js';
import { layerTable } from '../core/tensors/layer-table.js';
import { U32_MAX } from '../core/uint.js';
import { type Refused, refusing } from './gguf-error.js';
import { layerAttention } from './layer-attention.js';
import type { Metadata } from './metadata.js';
import { type GgufModel, type ModelTensor, type OpenModelOptions, openModel } from './open-model.js';
import { planningObstacle } from './planning-obstacle.js';

/** What to read beside that which planning needs. */
export interface InspectOptions extends OpenModelOptions {
  /** Fill `ModelInspection.tensors`. Default false. */
  readonly includeTensors?: boolean;
}

/** What a header says, and whether the model can be planned. */
export interface Inspected {
  readonly kind: 'inspected';
  readonly inspection: ModelInspection;
  /** Why the model cannot be planned, as a sentence; undefined when it can. */
  readonly obstacle: string | undefined;
  /** For what the inspection does not say. */
  readonly model: GgufModel;
}

/** An id that no vocabulary has: the model names no token that ends a generation. */
export const NO_TOKEN = U32_MAX;

/** Bytes of one activation element between stages, whatever the weights' quantisation. */
const BOUNDARY_WIDTH_BYTES = 4n;

/**
 * Reads what planning needs from a GGUF header. `path` names the file or its first shard and becomes the facts'
 * `gguf_source`. A header without a context length gives `max_seq_len` 0 and an obstacle.
 */
export function inspectModel(path: string, options: InspectOptions = {}): Promise<Inspected | Refused> {
  return refusing(async () => {
    const opened = await openModel(path, options);
    return opened.kind === 'refused' ? opened : describe(opened.model, options.includeTensors ?? false);
  });
}

function describe(model: GgufModel, includeTensors: boolean): Inspected {
  const { architecture, metadata, numLayers } = model;
  const contextLength = metadata.integer(`${architecture}.context_length`, 0, U32_MAX) ?? 0;
  const inspection: ModelInspection = {
    facts: modelFacts(model, contextLength),
    layers: layerTable(model),
    architecture,
    ggufVersion: model.version,
    contextLength: BigInt(contextLength),
    headCounts: metadata.perLayer(`${architecture}.attention.head_count`, numLayers),
    headCountsKv: metadata.perLayer(`${architecture}.attention.head_count_kv`, numLayers),
    vocabularySize: BigInt(
      metadata.integer(`${architecture}.vocab_size`, 0, U32_MAX) ?? metadata.arrayLength('tokenizer.ggml.tokens') ?? 0,
    ),
    digest: model.digest,
    fileBytes: BigInt(model.fileBytes),
    shardCount: model.shardCount,
    tensors: includeTensors ? model.tensors.map(tensorFacts) : [],
    attention: layerAttention(model),
    feedForwardLengths: metadata.perLayer(`${architecture}.feed_forward_length`, numLayers, U32_MAX),
    expertCount: metadata.integer(`${architecture}.expert_count`, 0, U32_MAX) ?? 0,
    expertsUsed: metadata.integer(`${architecture}.expert_used_count`, 0, U32_MAX) ?? 0,
    expertFeedForwardLength: BigInt(metadata.integer(`${architecture}.expert_feed_forward_length`, 0, U32_MAX) ?? 0),
    recurrent: isRecurrent(model),
  };
  const causal = metadata.flag(`${architecture}.attention.causal`) ?? true;
  return {
    kind: 'inspected',
    inspection,
    obstacle: planningObstacle(inspection, causal),
    model,
  };
}

function modelFacts(model: GgufModel, contextLength: number): ModelFacts {
  const { architecture, metadata, path } = model;
  return {
    modelId: modelId(metadata, path),
    ggufSource: { source: { $case: 'localPath', value: path } },
    numLayers: model.numLayers,
    hiddenDim: BigInt(metadata.requiredInteger(`${architecture}.embedding_length`, 1, U32_MAX)),
    dtypeFamily: DtypeFamily.DTYPE_FAMILY_FLOAT,
    dtypeWidthBytes: BOUNDARY_WIDTH_BYTES,
    maxSeqLen: BigInt(contextLength),
    eosTokenId: endToken(metadata),
    tokenizer: { source: { $case: 'embeddedGguf', value: {} } },
  };
}

/** Keys that only models have whose layers keep a state: Mamba, RWKV, LFM2 and Kimi Linear, and their hybrids. */
const statefulKeys = ['ssm.', 'wkv.', 'shortconv.', 'kda.'];

function isRecurrent({ architecture, metadata }: GgufModel): boolean {
  return [...metadata.entries.keys()].some((key) =>
    statefulKeys.some((own) => key.startsWith(`${architecture}.${own}`)),
  );
}

/** `general.name` on one line and within `limits.modelIdBytes`, or else the file's own name. */
function modelId(metadata: Metadata, path: string): string {
  const named = metadata
    .text('general.name')
    ?.replace(/\p{Cc}+/gu, ' ')
    .trim();
  const fromFile = basename(parseShardName(path)?.prefix ?? path, '.gguf');
  return clipText(named || fromFile, limits.modelIdBytes);
}

/**
 * `tokenizer.ggml.eos_token_id`; when the file does not say, what llama.cpp takes for the tokenizer model; NO_TOKEN when
 * there is none.
 */
function endToken(metadata: Metadata): number {
  const id = metadata.integer('tokenizer.ggml.eos_token_id', -1, U32_MAX);
  // Some converters write -1, as int32 or as uint32, for "none".
  if (id !== undefined) return id === -1 ? NO_TOKEN : id;
  switch (metadata.text('tokenizer.ggml.model')) {
    case 'llama':
      return 2;
    case 'gpt2':
      return 11;
    case 't5':
      return 1;
    default:
      return NO_TOKEN;
  }
}

function tensorFacts({ name, type, dims, bytes }: ModelTensor): TensorFacts {
  return { name, type, dims: dims.map(BigInt), sizeBytes: BigInt(bytes) };
}
