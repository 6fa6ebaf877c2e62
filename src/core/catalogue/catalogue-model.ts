import {
  DtypeFamily,
  type LayerAttention,
  type ModelFacts,
  type ModelInspection,
} from '../../../gen/stageplane/v1/model.js';
import { layerTable, type WeighedTensor } from '../tensors/layer-table.js';
import { tensorBytes } from '../tensors/tensor-type.js';
import { U32_MAX } from '../uint.js';
import type { ModelLayout } from './layout.js';
import { layoutTensors } from './layout-tensors.js';
import { type QuantisationName, quantisations } from './quantisations.js';
import { quantisedType } from './quantised-type.js';

/** A well-known model in one quantisation, weighed without a file. */
export interface CatalogueModel {
  /** In full, such as "llama3.1:8b@q4_k_m". */
  readonly reference: string;
  readonly layout: ModelLayout;
  readonly tensors: readonly WeighedTensor[];
  /** As a file's, without what only a file has: its digest is empty, its bytes, shards and GGUF version are 0. */
  readonly inspection: ModelInspection;
}

/** Bytes of one activation element between stages, whatever the weights' quantisation. */
const BOUNDARY_WIDTH_BYTES = 4n;

export function catalogueModel(layout: ModelLayout, quantisation: QuantisationName): CatalogueModel {
  const reference = `${layout.name}:${layout.size}@${quantisation}`;
  const tensors = layoutTensors(layout).map((tensor) => {
    const type = quantisedType(tensor, quantisations[quantisation], layout);
    return { name: tensor.name, type, bytes: Number(tensorBytes(type, tensor.dims)), group: tensor.group };
  });
  return { reference, layout, tensors, inspection: inspectionOf(reference, layout, tensors) };
}

function inspectionOf(reference: string, layout: ModelLayout, tensors: readonly WeighedTensor[]): ModelInspection {
  const { architecture, layers, vocabulary, contextLength, feedForward, experts, tied } = layout;
  const attention = attentionOf(layout);
  return {
    facts: factsOf(reference, layout),
    layers: layerTable({ numLayers: layers, tensors, tied }),
    architecture,
    ggufVersion: 0,
    contextLength: BigInt(contextLength),
    headCounts: [BigInt(layout.heads)],
    headCountsKv: [BigInt(attention[0]!.headsKv)],
    vocabularySize: BigInt(vocabulary),
    digest: '',
    fileBytes: 0n,
    shardCount: 0,
    tensors: [],
    attention,
    feedForwardLengths: [BigInt(feedForward)],
    expertCount: experts?.count ?? 0,
    expertsUsed: experts?.used ?? 0,
    expertFeedForwardLength: BigInt(experts?.feedForward ?? 0),
    recurrent: false,
  };
}

function factsOf(reference: string, { layers, width, contextLength }: ModelLayout): ModelFacts {
  return {
    modelId: reference,
    ggufSource: { source: { $case: 'localPath', value: reference } },
    numLayers: layers,
    hiddenDim: BigInt(width),
    dtypeFamily: DtypeFamily.DTYPE_FAMILY_FLOAT,
    dtypeWidthBytes: BOUNDARY_WIDTH_BYTES,
    maxSeqLen: BigInt(contextLength),
    // An id that no vocabulary has: a plan that nobody runs needs no end.
    eosTokenId: U32_MAX,
    tokenizer: { source: { $case: 'embeddedGguf', value: {} } },
  };
}

function attentionOf({ layers, heads, headsKv, headLength, window, latent }: ModelLayout): LayerAttention[] {
  const kept = latent
    ? { heads, headsKv: 1, keyLength: latent.keyRank + latent.ropeLength, valueLength: 0 }
    : { heads, headsKv, keyLength: headLength, valueLength: headLength };
  return Array.from({ length: layers }, (_, layer) => {
    const hasWindow = window !== undefined && layer % window.pattern < window.pattern - 1;
    return { ...kept, window: hasWindow ? window.tokens : 0 };
  });
}
