import { type TensorGroup, tensorGroup } from '../tensors/tensor-group.js';
import type { ExpertLayout, LatentAttention, ModelLayout } from './layout.js';

/** A tensor as llama.cpp's converter names and shapes it. */
export interface LayoutTensor {
  /** Such as "blk.0.attn_q.weight". */
  readonly name: string;
  /** Extents, fastest first. */
  readonly dims: readonly number[];
  readonly group: TensorGroup;
}

type Shapes = Readonly<Record<string, readonly number[]>>;

/** Every tensor of a model, layer by layer. */
export function layoutTensors(layout: ModelLayout): LayoutTensor[] {
  const { layers, width, vocabulary, headLength } = layout;
  const table = [width, vocabulary];
  const ends: Shapes = {
    'token_embd.weight': table,
    ...(layout.ropeFactors && { 'rope_freqs.weight': [headLength / 2] }),
    'output_norm.weight': [width],
    ...(!layout.tied && { 'output.weight': table }),
  };
  const ofLayers = Array.from({ length: layers }, (_, layer) =>
    Object.entries({ ...attention(layout), ...feedForward(layout, layer) }).map(
      ([name, dims]) => [`blk.${layer}.${name}`, dims] as const,
    ),
  );
  return [...Object.entries(ends), ...ofLayers.flat()].map(([name, dims]) => {
    return { name, dims, group: tensorGroup(name, layers) };
  });
}

function attention(layout: ModelLayout): Shapes {
  if (layout.latent) return latentAttention(layout, layout.latent);
  const { architecture, width, heads, headsKv, headLength } = layout;
  const queries = heads * headLength;
  const keys = headsKv * headLength;
  const hasNorms = ['qwen3', 'qwen3moe', 'gemma3'].includes(architecture);
  const hasBias = ['qwen2', 'gpt-oss'].includes(architecture);
  return {
    'attn_norm.weight': [width],
    'attn_q.weight': [width, queries],
    'attn_k.weight': [width, keys],
    'attn_v.weight': [width, keys],
    'attn_output.weight': [queries, width],
    ...(hasNorms && { 'attn_q_norm.weight': [headLength], 'attn_k_norm.weight': [headLength] }),
    ...(hasBias && { 'attn_q.bias': [queries], 'attn_k.bias': [keys], 'attn_v.bias': [keys] }),
    ...(architecture === 'gpt-oss' && { 'attn_output.bias': [width], 'attn_sinks.weight': [heads] }),
  };
}

/** As current conversions have it: what makes keys and values of a compressed key is two tensors. */
function latentAttention({ width, heads, headLength }: ModelLayout, latent: LatentAttention): Shapes {
  const { queryRank, keyRank, ropeLength, plainLength, valueLength } = latent;
  return {
    'attn_norm.weight': [width],
    'attn_q_a.weight': [width, queryRank],
    'attn_q_a_norm.weight': [queryRank],
    'attn_q_b.weight': [queryRank, heads * headLength],
    'attn_kv_a_mqa.weight': [width, keyRank + ropeLength],
    'attn_kv_a_norm.weight': [keyRank],
    'attn_k_b.weight': [plainLength, keyRank, heads],
    'attn_v_b.weight': [keyRank, valueLength, heads],
    'attn_output.weight': [heads * valueLength, width],
  };
}

function feedForward(layout: ModelLayout, layer: number): Shapes {
  const { architecture, width, experts } = layout;
  const norms = {
    [architecture === 'gpt-oss' ? 'post_attention_norm.weight' : 'ffn_norm.weight']: [width],
    ...(architecture === 'gemma3' && { 'post_attention_norm.weight': [width], 'post_ffw_norm.weight': [width] }),
  };
  const isDense = experts === undefined || layer < (experts.denseLayers ?? 0);
  return { ...norms, ...(isDense ? gated(width, layout.feedForward, '') : expertTensors(layout, experts)) };
}

function expertTensors({ architecture, width }: ModelLayout, experts: ExpertLayout): Shapes {
  const { count, shared } = experts;
  return {
    'ffn_gate_inp.weight': [width, count],
    ...gated(width, experts.feedForward, '_exps', count),
    ...(shared && gated(width, shared * experts.feedForward, '_shexp')),
    ...(architecture === 'deepseek2' && { 'exp_probs_b.bias': [count] }),
    ...(architecture === 'gpt-oss' && {
      'ffn_gate_inp.bias': [count],
      'ffn_gate_exps.bias': [experts.feedForward, count],
      'ffn_up_exps.bias': [experts.feedForward, count],
      'ffn_down_exps.bias': [width, count],
    }),
  };
}

function gated(width: number, inner: number, suffix: string, ...count: number[]): Shapes {
  return {
    [`ffn_gate${suffix}.weight`]: [width, inner, ...count],
    [`ffn_up${suffix}.weight`]: [width, inner, ...count],
    [`ffn_down${suffix}.weight`]: [inner, width, ...count],
  };
}
