import type { LoadOptions, LoadRequest } from './load.js';
import type { SaidTokens } from './said-tokens.js';
import type { StructuredStatus } from './status.js';

/** What goes into the layers: token ids on the first stage, activation rows on any other. */
export type StepInput =
  | { readonly kind: 'tokens'; readonly ids: readonly number[] }
  /** `rows x hiddenDim`, row after row. */
  | { readonly kind: 'rows'; readonly values: Float32Array };

/** What comes out: activation rows, or the token of the last row on the last stage. */
export type StepOutput =
  | { readonly kind: 'rows'; readonly values: Float32Array }
  | {
      readonly kind: 'token';
      readonly tokenId: number;
      readonly text?: string;
    };

/** What an engine measured when it had loaded. */
export interface LoadFootprint {
  /** Tensor bytes read from the file. */
  readonly bytesRead: number;
  /** SHA-256 of those bytes in the order of the file; 64 hexadecimal digits. */
  readonly bytesDigest: string;
  /** Bytes held on the stage's device. */
  readonly deviceBytes: number;
}

/**
 * The loaded layers of one stage: all that differs between two engines. Sessions, epochs, repetitions and limits are the
 * caller's; it runs one micro-batch at a time and gives positions without gaps.
 */
export interface StageLayers {
  readonly architecture: string;
  readonly effectiveStart: number;
  /** Elements of one activation row. */
  readonly hiddenDim: number;
  /** Entries of the vocabulary; ids at or above it are refused. */
  readonly vocabularySize: number;
  readonly footprint: LoadFootprint;

  /**
   * Runs one micro-batch of `session`, whose first row has `position`, and keeps its KV. The output is new memory. It may
   * take long and may throw: the caller then truncates to `position` and answers INTERNAL. `said`, of an answer with
   * sampling of its own, has its settings and its tokens so far; else the recipe's count.
   */
  run(session: string, position: number, input: StepInput, said?: SaidTokens): StepOutput;

  /** Drops the session's KV from `position` on. False when the architecture cannot, and nothing was dropped. */
  truncate(session: string, position: number): boolean;

  /** Drops all KV of a session. */
  drop(session: string): void;

  /** Frees everything. Called once, and nothing after it. */
  close(): Promise<void>;
}

/** The loaded layers, or why there are none. */
export type LoadLayersOutcome =
  | { readonly kind: 'loaded'; readonly layers: StageLayers }
  /** CANCELLED when the signal ended it, UNIMPLEMENTED for a recipe that the engine cannot follow, RESOURCE_EXHAUSTED for want of memory. */
  | { readonly kind: 'failed'; readonly status: StructuredStatus };

/** Loads one stage's layers; the whole of what a new engine has to write. */
export type LoadLayers = (request: LoadRequest, options: LoadOptions) => Promise<LoadLayersOutcome>;
