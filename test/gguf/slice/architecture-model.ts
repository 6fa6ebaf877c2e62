import type { WritableTensor, WritableValue } from '../../../src/gguf/encode-header.js';
import { seededFloats } from '../../../src/gguf/seeded-floats.js';
import { BEGIN_TOKEN, END_TOKEN, tinyVocabulary } from '../../../src/gguf/tiny-vocabulary.js';
import { writeGguf } from '../../../src/gguf/write-gguf.js';

/** Sizes that all the small models share. */
const WIDTH = 64;
const HEADS = 4;
const HEADS_KV = 2;
const HEAD = 16;
const FEED_FORWARD = 96;
const EXPERTS = 8;
const EXPERT_WIDTH = 32;
const VOCABULARY = 320;

type Keys = Readonly<Record<string, WritableValue>>;
type Shapes = Readonly<Record<string, readonly number[]>>;

/** What a model of one architecture has beside what all have. */
export interface SmallArchitecture {
  readonly layers: number;
  /** Without `output.weight`. */
  readonly tied?: boolean;
  /** Default 1. */
  readonly embeddingSpread?: number;
  /** Under "<arch>."; they go before the common ones of the same name. */
  readonly keys?: Keys;
  /** Of layer `layer`, without "blk.N.". */
  readonly tensors: (layer: number) => Shapes;
  readonly globals?: Shapes;
}

const uint = (value: number): WritableValue => ({ type: 'uint32', value });
const float = (value: number): WritableValue => ({ type: 'float32', value });

const attention: Shapes = {
  'attn_norm.weight': [WIDTH],
  'attn_q.weight': [WIDTH, HEADS * HEAD],
  'attn_k.weight': [WIDTH, HEADS_KV * HEAD],
  'attn_v.weight': [WIDTH, HEADS_KV * HEAD],
  'attn_output.weight': [HEADS * HEAD, WIDTH],
  'ffn_norm.weight': [WIDTH],
};
const queryKeyNorms: Shapes = { 'attn_q_norm.weight': [HEAD], 'attn_k_norm.weight': [HEAD] };
const queryKeyBiases: Shapes = {
  'attn_q.bias': [HEADS * HEAD],
  'attn_k.bias': [HEADS_KV * HEAD],
  'attn_v.bias': [HEADS_KV * HEAD],
};
const dense: Shapes = {
  'ffn_gate.weight': [WIDTH, FEED_FORWARD],
  'ffn_up.weight': [WIDTH, FEED_FORWARD],
  'ffn_down.weight': [FEED_FORWARD, WIDTH],
};
const experts: Shapes = {
  'ffn_gate_inp.weight': [WIDTH, EXPERTS],
  'ffn_gate_exps.weight': [WIDTH, EXPERT_WIDTH, EXPERTS],
  'ffn_up_exps.weight': [WIDTH, EXPERT_WIDTH, EXPERTS],
  'ffn_down_exps.weight': [EXPERT_WIDTH, WIDTH, EXPERTS],
};
const sharedExpert: Shapes = {
  'ffn_gate_shexp.weight': [WIDTH, EXPERT_WIDTH],
  'ffn_up_shexp.weight': [WIDTH, EXPERT_WIDTH],
  'ffn_down_shexp.weight': [EXPERT_WIDTH, WIDTH],
  'exp_probs_b.bias': [EXPERTS],
};
const expertKeys: Keys = {
  expert_count: uint(EXPERTS),
  expert_used_count: uint(2),
  expert_feed_forward_length: uint(EXPERT_WIDTH),
};

/** Rank of the compressed queries and of the compressed keys and values. */
const RANK = 32;
const ROPE_WIDTH = 8;
const DENSE_LAYERS = 3;
const latentAttention: Shapes = {
  'attn_norm.weight': [WIDTH],
  'attn_q_a.weight': [WIDTH, RANK],
  'attn_q_a_norm.weight': [RANK],
  'attn_q_b.weight': [RANK, HEADS * (HEAD + ROPE_WIDTH)],
  'attn_kv_a_mqa.weight': [WIDTH, RANK + ROPE_WIDTH],
  'attn_kv_a_norm.weight': [RANK],
  'attn_k_b.weight': [HEAD, RANK, HEADS],
  'attn_v_b.weight': [RANK, HEAD, HEADS],
  'attn_output.weight': [HEADS * HEAD, WIDTH],
  'ffn_norm.weight': [WIDTH],
};

function glmLayer(layer: number): Shapes {
  const { 'ffn_norm.weight': _, ...withoutNorm } = attention;
  const norms = { 'post_attention_norm.weight': [WIDTH], ...queryKeyNorms, ...queryKeyBiases };
  return { ...withoutNorm, ...norms, ...(layer < 2 ? dense : { ...experts, ...sharedExpert }) };
}
const nextTokenPrediction: Shapes = {
  'nextn.eh_proj.weight': [2 * WIDTH, WIDTH],
  'nextn.enorm.weight': [WIDTH],
  'nextn.hnorm.weight': [WIDTH],
  'nextn.shared_head_norm.weight': [WIDTH],
};
const { 'ffn_norm.weight': _, ...attentionWithoutNorm } = attention;
const attentionWithSinks: Shapes = {
  ...attentionWithoutNorm,
  ...queryKeyBiases,
  'post_attention_norm.weight': [WIDTH],
  'attn_output.bias': [WIDTH],
  'attn_sinks.weight': [HEADS],
};

function named(prefix: string, shapes: Shapes): Shapes {
  return Object.fromEntries(Object.entries(shapes).map(([name, dims]) => [prefix + name, dims]));
}

/** Small models with the shapes of their architectures: every kind of layer, and a cut on either side of each. */
export const smallArchitectures = {
  llama: {
    layers: 6,
    globals: { 'rope_freqs.weight': [HEAD / 2] },
    tensors: () => ({ ...attention, ...dense }),
  },
  qwen2: { layers: 6, tensors: () => ({ ...attention, ...queryKeyBiases, ...dense }) },
  qwen3: { layers: 6, tied: true, tensors: () => ({ ...attention, ...queryKeyNorms, ...dense }) },
  qwen3moe: { layers: 6, keys: expertKeys, tensors: () => ({ ...attention, ...queryKeyNorms, ...experts }) },
  gemma3: {
    layers: 20,
    tied: true,
    // It is multiplied by 8, the root of the width, and what comes in must not drown what the layers add.
    embeddingSpread: 0.1,
    // Shorter than the test's prompt, and another rope in the layers with a window: a layer of the wrong kind shows.
    keys: {
      'attention.sliding_window': uint(24),
      'rope.freq_base': float(1e6),
      'rope.freq_base_swa': float(1e4),
    },
    tensors: () => ({
      ...attention,
      ...queryKeyNorms,
      ...dense,
      'post_attention_norm.weight': [WIDTH],
      'post_ffw_norm.weight': [WIDTH],
    }),
  },
  granite: {
    layers: 6,
    keys: {
      embedding_scale: float(3),
      residual_scale: float(0.7),
      logit_scale: float(2),
      'attention.scale': float(0.25),
    },
    tensors: () => ({ ...attention, ...dense }),
  },
  deepseek2: {
    layers: 8,
    keys: {
      ...expertKeys,
      leading_dense_block_count: uint(DENSE_LAYERS),
      expert_shared_count: uint(1),
      expert_weights_scale: float(1),
      expert_gating_func: uint(1),
      'attention.head_count_kv': uint(1),
      'attention.q_lora_rank': uint(RANK),
      'attention.kv_lora_rank': uint(RANK),
      'attention.key_length': uint(RANK + ROPE_WIDTH),
      'attention.value_length': uint(RANK),
      'attention.key_length_mla': uint(HEAD + ROPE_WIDTH),
      'attention.value_length_mla': uint(HEAD),
      'rope.dimension_count': uint(ROPE_WIDTH),
    },
    tensors: (layer) => ({ ...latentAttention, ...(layer < DENSE_LAYERS ? dense : { ...experts, ...sharedExpert }) }),
  },
  glm4moe: {
    layers: 6,
    keys: {
      ...expertKeys,
      // One layer more than stages load, which predicts a second token.
      block_count: uint(7),
      nextn_predict_layers: uint(1),
      leading_dense_block_count: uint(2),
      expert_shared_count: uint(1),
      expert_weights_scale: float(1.5),
      expert_weights_norm: { type: 'bool', value: true },
      expert_gating_func: uint(2),
    },
    globals: named('blk.6.', { ...glmLayer(6), ...nextTokenPrediction }),
    tensors: glmLayer,
  },
  'gpt-oss': {
    layers: 8,
    keys: { ...expertKeys, 'attention.sliding_window': uint(24) },
    tensors: () => ({
      ...attentionWithSinks,
      ...experts,
      'ffn_gate_inp.bias': [EXPERTS],
      'ffn_gate_exps.bias': [EXPERT_WIDTH, EXPERTS],
      'ffn_up_exps.bias': [EXPERT_WIDTH, EXPERTS],
      'ffn_down_exps.bias': [WIDTH, EXPERTS],
    }),
  },
  qwen3vl: {
    layers: 6,
    keys: {
      n_deepstack_layers: uint(3),
      'rope.dimension_sections': { type: 'array', elements: 'int32', items: [3, 3, 2, 0] },
    },
    tensors: () => ({ ...attention, ...queryKeyNorms, ...dense }),
  },
  gemma2: {
    layers: 8,
    tied: true,
    embeddingSpread: 0.1,
    keys: {
      'attention.sliding_window': uint(24),
      attn_logit_softcapping: float(50),
      final_logit_softcapping: float(30),
    },
    tensors: () => ({
      ...attention,
      ...dense,
      'post_attention_norm.weight': [WIDTH],
      'post_ffw_norm.weight': [WIDTH],
    }),
  },
  smollm3: { layers: 9, tied: true, tensors: () => ({ ...attention, ...dense }) },
  qwen2moe: {
    layers: 6,
    keys: { ...expertKeys, expert_shared_feed_forward_length: uint(EXPERT_WIDTH) },
    tensors: () => ({
      ...attention,
      ...queryKeyBiases,
      ...experts,
      'ffn_gate_inp_shexp.weight': [WIDTH],
      'ffn_gate_shexp.weight': [WIDTH, EXPERT_WIDTH],
      'ffn_up_shexp.weight': [WIDTH, EXPERT_WIDTH],
      'ffn_down_shexp.weight': [EXPERT_WIDTH, WIDTH],
    }),
  },
  olmo2: {
    layers: 10,
    keys: { 'attention.sliding_window': uint(24) },
    tensors: () => {
      const { 'attn_norm.weight': _a, 'ffn_norm.weight': _f, ...matrices } = attention;
      return {
        ...matrices,
        ...dense,
        'attn_q_norm.weight': [HEADS * HEAD],
        'attn_k_norm.weight': [HEADS_KV * HEAD],
        'post_attention_norm.weight': [WIDTH],
        'post_ffw_norm.weight': [WIDTH],
      };
    },
  },
} as const satisfies Record<string, SmallArchitecture>;

export interface ArchitectureModelOptions {
  /** Widths of rows, heads and feed-forward times this, for models without experts. Default 1. */
  readonly scale?: number;
  /** The end token is never the likeliest, so that greedy text has the length that was asked for. Default false. */
  readonly endless?: boolean;
}

/** Writes the model, with pseudo-random F32 weights. */
export async function writeArchitectureModel(
  path: string,
  architecture: string,
  model: SmallArchitecture,
  { scale = 1, endless = false }: ArchitectureModelOptions = {},
): Promise<string> {
  const tensors = tensorsOf(model).map((tensor) => ({ ...tensor, dims: tensor.dims.map((dim) => scaled(dim, scale)) }));
  const head = model.tied ? 'token_embd.weight' : 'output.weight';
  await writeGguf(path, {
    metadata: metadataOf(architecture, model, scale),
    tensors: tensors.map((tensor) => ({
      ...tensor,
      data: () => {
        const data = weights(tensor, model.embeddingSpread ?? 1);
        return endless && tensor.name === head ? withoutRow(data, END_TOKEN, tensor.dims[0]! * 4) : data;
      },
    })),
  });
  return path;
}

function scaled(dim: number, scale: number): number {
  return dim === VOCABULARY ? dim : dim * scale;
}

/** The row's logit is 0 then, and among many the greatest is above. */
function* withoutRow(data: Iterable<Uint8Array>, row: number, rowBytes: number): Iterable<Uint8Array> {
  let offset = 0;
  for (const piece of data) {
    const zeroed = piece.slice();
    zeroed.fill(0, Math.max(0, row * rowBytes - offset), Math.max(0, (row + 1) * rowBytes - offset));
    offset += piece.length;
    yield zeroed;
  }
}

function metadataOf(
  architecture: string,
  { layers, keys = {} }: SmallArchitecture,
  scale: number,
): [string, WritableValue][] {
  const { tokens, scores, types } = tinyVocabulary(VOCABULARY);
  const own: Keys = {
    block_count: uint(layers),
    context_length: uint(512),
    embedding_length: uint(WIDTH * scale),
    feed_forward_length: uint(FEED_FORWARD * scale),
    'attention.head_count': uint(HEADS),
    'attention.head_count_kv': uint(HEADS_KV),
    'attention.key_length': uint(HEAD * scale),
    'attention.value_length': uint(HEAD * scale),
    'attention.layer_norm_rms_epsilon': float(1e-5),
    'rope.dimension_count': uint(HEAD * scale),
    'rope.freq_base': float(10_000),
    vocab_size: uint(VOCABULARY),
    ...keys,
  };
  return [
    ['general.architecture', { type: 'string', value: architecture }],
    ['general.name', { type: 'string', value: `small ${architecture}` }],
    ...Object.entries(own).map(([key, value]): [string, WritableValue] => [`${architecture}.${key}`, value]),
    ['tokenizer.ggml.model', { type: 'string', value: 'llama' }],
    ['tokenizer.ggml.tokens', { type: 'array', elements: 'string', items: tokens }],
    ['tokenizer.ggml.scores', { type: 'array', elements: 'float32', items: scores }],
    ['tokenizer.ggml.token_type', { type: 'array', elements: 'int32', items: types }],
    ['tokenizer.ggml.bos_token_id', uint(BEGIN_TOKEN)],
    ['tokenizer.ggml.eos_token_id', uint(END_TOKEN)],
  ];
}

function tensorsOf({ layers, tied = false, tensors, globals = {} }: SmallArchitecture): WritableTensor[] {
  const all: [string, readonly number[]][] = [
    ['token_embd.weight', [WIDTH, VOCABULARY]],
    ...Object.entries(globals),
    ...Array.from({ length: layers }, (_, layer) =>
      Object.entries(tensors(layer)).map(([name, dims]): [string, readonly number[]] => [`blk.${layer}.${name}`, dims]),
    ).flat(),
    ['output_norm.weight', [WIDTH]],
    ...(tied ? [] : [['output.weight', [WIDTH, VOCABULARY]] as [string, readonly number[]]]),
  ];
  return all.map(([name, dims]) => ({ name, type: 'F32', dims }));
}

/** Loud enough that every layer matters to the last bit, quiet enough that no number runs away. */
function weights({ name, dims }: WritableTensor, embeddingSpread: number): Iterable<Uint8Array> {
  const [width = 1] = dims;
  const isNorm = name.includes('norm') || name.startsWith('rope');
  const isSmall = isNorm || name.endsWith('.bias');
  const spread = isSmall ? 0.2 : name.startsWith('token_embd') ? embeddingSpread : 2.5 / Math.sqrt(width);
  return seededFloats(name, {
    count: dims.reduce((product, extent) => product * extent, 1),
    center: isNorm ? 1 : 0,
    spread,
  });
}
