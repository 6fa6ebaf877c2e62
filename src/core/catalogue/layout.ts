import type { QuantisationName } from './quantisations.js';

/** The shape of a well-known model: what its `config.json` says, in GGUF's words. Lengths are in elements. */
export interface ModelLayout {
  /** Without its size, such as "llama3.1"; lower case. */
  readonly name: string;
  /** As people say it, such as "8b"; lower case. */
  readonly size: string;
  /** `general.architecture`: how the layers are made. */
  readonly architecture: 'llama' | 'qwen2' | 'qwen3' | 'qwen3moe' | 'gemma3' | 'deepseek2' | 'gpt-oss';
  readonly layers: number;
  readonly width: number;
  readonly heads: number;
  /** Heads whose keys and values are kept. */
  readonly headsKv: number;
  /** Of one head's query, key and value. */
  readonly headLength: number;
  /** Width of the dense feed-forward part. */
  readonly feedForward: number;
  readonly vocabulary: number;
  /** Tokens. */
  readonly contextLength: number;
  /** Whether the head is the embedding again. */
  readonly tied: boolean;
  /** Whether files have a tensor of rope factors beside the layers. */
  readonly ropeFactors?: true;
  readonly window?: AttentionWindow;
  readonly experts?: ExpertLayout;
  readonly latent?: LatentAttention;
  /** The quantisation in which the makers publish the model, and the only one; absent where there are llama.cpp's mixes. */
  readonly publishedAs?: QuantisationName;
  /** As the makers count them; a test adds up the shapes to just that. */
  readonly parameters: number;
  /** Whether a test compares every layer with the header of a real file. */
  readonly comparedWithFile?: true;
}

/** Layer `l` looks back on `tokens` only, when `l % pattern < pattern - 1`. */
export interface AttentionWindow {
  readonly tokens: number;
  readonly pattern: number;
}

export interface ExpertLayout {
  readonly count: number;
  /** Experts that one token is computed by. */
  readonly used: number;
  /** Width of one expert. */
  readonly feedForward: number;
  /** Experts of the same width that compute every token. */
  readonly shared?: number;
  /** First layers that have no experts. */
  readonly denseLayers?: number;
}

/** Multi-head latent attention: one compressed key per token is all that is kept of it. */
export interface LatentAttention {
  readonly queryRank: number;
  readonly keyRank: number;
  /** Of the part of a key that has a position; after `keyRank` elements it makes up the kept key. */
  readonly ropeLength: number;
  /** Of the part of one head's key that has none. */
  readonly plainLength: number;
  readonly valueLength: number;
}
