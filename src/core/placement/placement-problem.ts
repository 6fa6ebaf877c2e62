import type { NodeId } from '../ids.js';

/**
 * Everything that the search looks at. It knows no model and no engine: whoever asks says what a stage takes. All bytes
 * are safe integers, below 2^53; seconds are finite and not negative.
 */
export interface PlacementProblem {
  /** At least 1. */
  readonly numLayers: number;
  /** Layers at which a stage may start, ascending, without 0; undefined: at every layer. */
  readonly starts: readonly number[] | undefined;
  /** Numbers of layers that no stage may have unless it is the whole model. */
  readonly refusedLengths?: readonly number[];
  /**
   * Bytes that the stage `[start, end)` takes on any node, the embedding included when `start` is 0, the head when `end`
   * is `numLayers`. O(1). A longer stage never takes less, and the stages of a split together no less than the whole.
   */
  bytes(start: number, end: number): number;
  /** Bytes that the stage `[start, end)` reads for one token. O(1). A longer stage never reads less. */
  bytesRead(start: number, end: number): number;
  /** Bytes of what only the first and the last stage hold: part of `bytes`, and here to be named when it fits nowhere. */
  readonly embeddingBytes: number;
  readonly headBytes: number;
  /** Those that can take a stage now; nodes that are excluded are not among them. */
  readonly nodes: readonly PlacementNode[];
  /** At least 1. */
  readonly minStages: number;
  readonly maxStages: number;
  readonly maxSecondsPerToken?: number;
  /** Node of a stage that must be there. Every pinned stage must exist. */
  readonly pins: ReadonlyMap<number, NodeId>;
}

/**
 * One place for one stage: a node with the device that it would use. A node may appear once per device, the preferred
 * one first: its n-th pin takes its n-th place.
 */
export interface PlacementNode {
  readonly nodeId: NodeId;
  readonly name: string;
  /** Bytes that a stage may take here, after headroom. */
  readonly usable: number;
  /** Bytes of the whole device; utilisation is what a stage takes of them. At least 1. */
  readonly capacity: number;
  /** Bytes that any stage takes here beside its own, such as the runtime's. */
  readonly overhead: number;
  /** 1 / memory bandwidth. */
  readonly secondsPerByte: number;
  /** Of the edge into this node, per token. */
  readonly hopSeconds: number;
  readonly maxLayers?: number;
}

/** Bytes of the stage `[start, end)` on this node. */
export function bytesOnNode(problem: PlacementProblem, node: PlacementNode, start: number, end: number): number {
  return problem.bytes(start, end) + node.overhead;
}
