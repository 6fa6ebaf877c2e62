import type { TensorTypeName } from '../tensors/tensor-type.js';

/** How a quantisation stores one kind of tensor; undefined where like all others. */
type LayerRule = (layer: number, layers: number) => TensorTypeName | undefined;

/** What llama.cpp stores otherwise than the most of a model, for its worth to the text. Data only. */
export interface Quantisation {
  /** Of everything that no rule is about. */
  readonly base: TensorTypeName;
  /** Of what makes the values of attention. */
  readonly values?: LayerRule;
  /** Of the way back from the feed-forward part. */
  readonly down?: LayerRule;
  /** Of the way back from attention. */
  readonly attentionOutput?: TensorTypeName;
  /** Of the same in models of eight experts, whose attention is small beside them. */
  readonly attentionOutputOfEight?: TensorTypeName;
  /** Of experts alone; all else is `base`, the head too. */
  readonly experts?: TensorTypeName;
}

/** The layers at both ends, and every third one between them. */
function moreBits(type: TensorTypeName): LayerRule {
  return (layer, layers) => {
    const eighth = Math.floor(layers / 8);
    const isAtAnEnd = layer < eighth || layer >= Math.floor((7 * layers) / 8);
    return isAtAnEnd || (layer - eighth) % 3 === 2 ? type : undefined;
  };
}

const always =
  (type: TensorTypeName): LayerRule =>
  () =>
    type;

/** The mixes of llama.cpp's `llama-quantize` without an importance matrix, by lower-case name. */
export const quantisations = {
  f16: { base: 'F16' },
  bf16: { base: 'BF16' },
  q8_0: { base: 'Q8_0' },
  q6_k: { base: 'Q6_K' },
  q5_k_m: { base: 'Q5_K', values: moreBits('Q6_K'), down: moreBits('Q6_K') },
  q5_k_s: { base: 'Q5_K' },
  q5_1: { base: 'Q5_1' },
  q5_0: { base: 'Q5_0' },
  q4_k_m: { base: 'Q4_K', values: moreBits('Q6_K'), down: moreBits('Q6_K'), attentionOutputOfEight: 'Q5_K' },
  q4_k_s: {
    base: 'Q4_K',
    values: (layer) => (layer < 4 ? 'Q5_K' : undefined),
    down: (layer, layers) => (layer < Math.floor(layers / 8) ? 'Q5_K' : undefined),
    attentionOutputOfEight: 'Q5_K',
  },
  q4_1: { base: 'Q4_1' },
  q4_0: { base: 'Q4_0' },
  q3_k_l: { base: 'Q3_K', values: always('Q5_K'), down: always('Q5_K'), attentionOutput: 'Q5_K' },
  q3_k_m: {
    base: 'Q3_K',
    values: (layer) => (layer < 2 ? 'Q5_K' : 'Q4_K'),
    down: (layer, layers) => (layer < Math.floor(layers / 16) ? 'Q5_K' : 'Q4_K'),
    attentionOutput: 'Q4_K',
    attentionOutputOfEight: 'Q5_K',
  },
  q3_k_s: { base: 'Q3_K', attentionOutputOfEight: 'Q5_K' },
  mxfp4: { base: 'Q8_0', experts: 'MXFP4' },
} as const satisfies Readonly<Record<string, Quantisation>>;

export type QuantisationName = keyof typeof quantisations;
