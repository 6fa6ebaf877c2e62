import type { LayerFacts, LayerTable } from '../../../gen/stageplane/v1/model.js';
import type { TensorGroup } from './tensor-group.js';

/** What the sums need of a tensor. */
export interface WeighedTensor {
  readonly name: string;
  /** GGML type name. */
  readonly type: string;
  readonly bytes: number;
  readonly group: TensorGroup;
}

/** What the sums need of a model. */
export interface WeighedModel {
  readonly numLayers: number;
  /** In the order in which `tensorTypes` shall name their types. */
  readonly tensors: readonly WeighedTensor[];
  /** True when there is an embedding but no `output.weight`. */
  readonly tied: boolean;
}

/**
 * Sums the tensors of a model by layer and group; the sums add up to all tensor bytes. `layers` is empty when no layer
 * has a tensor, as in a file that holds only a vocabulary.
 */
export function layerTable(model: WeighedModel): LayerTable {
  const layers = emptyLayers(model.numLayers);
  const sums = {
    layer: 0n,
    embedding: 0n,
    head: 0n,
    global: 0n,
    'next-token-prediction': 0n,
  };
  for (const tensor of model.tensors) {
    sums[tensor.group.kind] += BigInt(tensor.bytes);
    if (tensor.group.kind === 'layer') addTensor(layers[tensor.group.index]!, tensor);
  }
  return {
    layers: layers.some(({ tensorCount }) => tensorCount > 0) ? layers : [],
    embeddingBytes: sums.embedding,
    headBytes: sums.head,
    globalBytes: sums.global,
    nextTokenPredictionBytes: sums['next-token-prediction'],
    tied: model.tied,
    totalBytes: sums.layer + sums.embedding + sums.head + sums.global + sums['next-token-prediction'],
  };
}

function emptyLayers(count: number): LayerFacts[] {
  return Array.from({ length: count }, (_, index) => ({
    index,
    sizeBytes: 0n,
    tensorCount: 0,
    tensorTypes: [],
    expertBytes: 0n,
  }));
}

/** All experts of a layer in one tensor, or one of them, as older files have it. Not the shared ones: all tokens read those. */
const expertTensor = /\.ffn_(?:\w+_exps|(?:gate|up|down)\.\d+)\./;

function addTensor(layer: LayerFacts, tensor: WeighedTensor): void {
  layer.sizeBytes += BigInt(tensor.bytes);
  if (expertTensor.test(tensor.name)) layer.expertBytes += BigInt(tensor.bytes);
  layer.tensorCount += 1;
  if (!layer.tensorTypes.includes(tensor.type)) layer.tensorTypes.push(tensor.type);
}
