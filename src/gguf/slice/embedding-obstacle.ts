import type { TensorTypeName } from '../../core/tensors/tensor-type.js';
import type { GgufModel } from '../open-model.js';

/** Types that ggml computes with inside or only stores: it has no conversion of a single row of them. */
export const typesWithoutRows: ReadonlySet<TensorTypeName> = new Set([
  'Q8_1',
  'Q8_K',
  'I8',
  'I16',
  'I32',
  'I64',
  'F64',
]);

/** Why no first stage could look up the embeddings of tokens in a model, as a sentence; undefined when one can. */
export function embeddingObstacle({ path, tensors }: GgufModel): string | undefined {
  const table = tensors.find(({ name }) => name === 'token_embd.weight');
  if (table === undefined) return `${path} has no tensor token_embd.weight: name the whole model`;
  if (!typesWithoutRows.has(table.type)) return undefined;
  return `token_embd.weight of ${path} is of type ${table.type}, of which llama.cpp reads no single rows: quantise it otherwise`;
}
