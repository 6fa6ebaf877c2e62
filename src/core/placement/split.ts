/** One stage of a split: the units `[start, end)` on the place `node`, an index into the nodes of the problem. */
export interface SplitStage {
  readonly node: number;
  readonly start: number;
  readonly end: number;
}

/** Stages in order, and what the measure of the search made of them. */
export interface Split {
  readonly stages: readonly SplitStage[];
  readonly value: number;
}
