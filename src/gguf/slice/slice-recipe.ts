import type { WritableValue } from '../encode-header.js';

/** Whether slices of an architecture were shown to compute what the whole model computes. */
export type RecipeProof =
  /** Bit for bit, at every cut that the recipe allows: `test/worker/engine/llama/recipes.test.ts`. */
  | { readonly kind: 'verified' }
  /** `seen` says how far it got. Such a recipe is offered to nobody. */
  | { readonly kind: 'unverified'; readonly seen: string };

/** A whole number that the header gives under `<arch>.<key>`, or `fallback` where it does not. */
export interface HeaderNumber {
  readonly key: string;
  readonly fallback: number;
}

/** A key `<arch>.<key>` that must say something else in a slice than in the whole model. Absent keys mostly stay absent. */
export type HeaderRewrite =
  /** Counts layers from the model's first one, so that a slice which starts later has fewer: max(0, value - start). */
  | { readonly kind: 'count-from-start'; readonly key: string }
  /** Takes effect where tokens become rows, so that it must have none in later stages: float32 1. */
  | { readonly kind: 'one-after-first-stage'; readonly key: string }
  /** Counts what no stage has a use for: uint32 0. */
  | { readonly kind: 'zero'; readonly key: string }
  /** What llama.cpp wants to know before it takes rows; added where the model does not say. */
  | { readonly kind: 'when-absent'; readonly key: string; readonly value: WritableValue };

/** A number of layers from which llama.cpp concludes something that changes the arithmetic or the tensors it expects. */
export interface TellingLayerCount {
  readonly layers: number;
  /** Goes on a sentence that began with the number of layers. */
  readonly because: string;
}

/** How to cut a model of one architecture into files that llama.cpp runs as stages. Data only. */
export interface SliceRecipe {
  /** `general.architecture`. */
  readonly architecture: string;
  /** Grows whenever the same range of the same model would give another file. */
  readonly version: number;
  readonly proof: RecipeProof;
  /** A stage may start at multiples of this many layers. */
  readonly cutEvery: number | HeaderNumber;
  /** Models of so many layers cannot be cut, and no slice may have so many. */
  readonly tellingLayerCounts: readonly TellingLayerCount[];
  readonly rewrites: readonly HeaderRewrite[];
  /** Tensors that a slice holds even where its stage has none of its own; filled with zeros. */
  readonly requiredTensors: readonly string[];
  /** Layer tensors without which the architecture has another shape than the one that was shown to work. */
  readonly expectedLayerTensors: readonly string[];
  /** Position planes of a batch of rows: 4 where rows have a time, a height, a width and a spare one. */
  readonly positionsPerRow: 1 | 4;
  /** What a token's embedding is multiplied by, where the library does so only for tokens and never for rows. */
  readonly embeddingFactor: 'one' | 'square-root-of-width';
}
