import { type TensorTypeName, tensorTypes } from '../tensors/tensor-type.js';
import type { ModelLayout } from './layout.js';
import type { LayoutTensor } from './layout-tensors.js';
import type { Quantisation } from './quantisations.js';

/** What stands for a type whose blocks do not divide a tensor's rows. */
const fallbacks: Partial<Record<TensorTypeName, TensorTypeName>> = {
  Q3_K: 'Q4_0',
  Q4_K: 'Q5_0',
  Q5_K: 'Q5_1',
  Q6_K: 'Q8_0',
};

/** The type of a tensor in a file that llama.cpp made: vectors, norms and the choice of experts stay F32. */
export function quantisedType(tensor: LayoutTensor, quantisation: Quantisation, layout: ModelLayout): TensorTypeName {
  const { name, dims } = tensor;
  if (dims.length < 2 || !name.endsWith('.weight') || name.endsWith('ffn_gate_inp.weight')) return 'F32';
  const wanted = wantedType(tensor, quantisation, layout);
  const isWhole = (dims[0] ?? 0) % tensorTypes[wanted].block === 0;
  return isWhole ? wanted : (fallbacks[wanted] ?? 'F16');
}

function wantedType(tensor: LayoutTensor, quantisation: Quantisation, layout: ModelLayout): TensorTypeName {
  const { name, group } = tensor;
  const { base, experts } = quantisation;
  if (name === 'output.weight' || (layout.tied && group.kind === 'embedding')) return headType(quantisation);
  if (group.kind !== 'layer') return base;
  if (experts !== undefined) return name.includes('_exps.') ? experts : base;
  const part = name.slice(name.indexOf('.', 'blk.'.length) + 1);
  const hasEightExperts = layout.experts?.count === 8;
  if (part === 'attn_v.weight') return valuesType(group.index, quantisation, layout);
  if (part === 'attn_k.weight') return hasEightExperts && isQuantised(base) ? 'Q8_0' : base;
  if (part === 'attn_output.weight') {
    return (hasEightExperts ? quantisation.attentionOutputOfEight : quantisation.attentionOutput) ?? base;
  }
  if (part.startsWith('ffn_down')) return quantisation.down?.(group.index, layout.layers) ?? base;
  return base;
}

/** The head decides what is said, so it keeps six bits at least. */
function headType({ base, experts }: Quantisation): TensorTypeName {
  return isQuantised(base) && base !== 'Q8_0' && experts === undefined ? 'Q6_K' : base;
}

function valuesType(layer: number, quantisation: Quantisation, layout: ModelLayout): TensorTypeName {
  const { base, values } = quantisation;
  if (layout.experts?.count === 8 && isQuantised(base)) return 'Q8_0';
  const type = values?.(layer, layout.layers) ?? base;
  // With 80 layers llama.cpp takes a model for one of 70B, whose values are few for so many queries.
  const isOf70b = layout.layers === 80 && layout.experts === undefined;
  return isOf70b && (type === 'Q3_K' || type === 'Q4_K') ? 'Q5_K' : type;
}

function isQuantised(type: TensorTypeName): boolean {
  return tensorTypes[type].block > 1;
}
