/** Where an engine may cut a model into stages. Read from the file by the shell: the core opens none. */
export type ModelCuts =
  /** A single stage holds all of it. */
  | {
      readonly kind: 'uncut';
      readonly engine: string;
      /** Goes on after "cannot be cut: ". */
      readonly because: string;
    }
  | {
      readonly kind: 'cuttable';
      readonly engine: string;
      /** Layers at which a stage may start, ascending; without 0. */
      readonly starts: readonly number[];
      /** Goes on after "cannot be cut at layer 10, ": "only at multiples of 6". */
      readonly rule: string;
      /** Numbers of layers that no stage may have unless it is the whole model. */
      readonly refusedLengths: readonly RefusedLength[];
    };

export interface RefusedLength {
  readonly layers: number;
  /** Goes on after "a stage of 27 layers, which ". */
  readonly because: string;
}

/** Stages at most. */
export function mostStages(cuts: ModelCuts): number {
  return cuts.kind === 'uncut' ? 1 : cuts.starts.length + 1;
}

/**
 * First layers of stages 1 to n-1 that are near those of the even split, each where the model may be cut; undefined when
 * there are none. Stage 1 chooses first, so it may miss a split in which an earlier stage gives way to a later one:
 * refused lengths are one or two numbers with room all around them.
 */
export function splitAtCuts(numLayers: number, stageCount: number, cuts: ModelCuts): number[] | undefined {
  if (cuts.kind === 'uncut') return stageCount === 1 ? [] : undefined;
  const refused = new Set(cuts.refusedLengths.map(({ layers }) => layers));
  const chosen: number[] = [];
  let from = 0;
  for (let stage = 1; stage < stageCount; stage++) {
    const start = chosen.at(-1) ?? 0;
    const isLast = stage === stageCount - 1;
    // Each later stage needs a cut of its own.
    const to = cuts.starts.length - (stageCount - 1 - stage);
    const at = nearestCut(cuts.starts, from, to, Math.floor((numLayers * stage) / stageCount), (cut) => {
      return !refused.has(cut - start) && !(isLast && refused.has(numLayers - cut));
    });
    if (at === undefined) return undefined;
    chosen.push(cuts.starts[at]!);
    from = at + 1;
  }
  return chosen;
}

/** Index within `[from, to)` of the cut that is nearest to `wanted` and fits; the lower one of two that are equally near. */
function nearestCut(
  starts: readonly number[],
  from: number,
  to: number,
  wanted: number,
  fits: (cut: number) => boolean,
): number | undefined {
  let best: number | undefined;
  for (let at = from; at < to; at++) {
    const cut = starts[at]!;
    // From here on they are only farther away.
    if (best !== undefined && cut - wanted >= Math.abs(starts[best]! - wanted)) return best;
    if (fits(cut) && (best === undefined || Math.abs(cut - wanted) < Math.abs(starts[best]! - wanted))) best = at;
  }
  return best;
}

/** The allowed starts on both sides of a layer, ascending. */
export function neighbours(starts: readonly number[], layer: number): number[] {
  const below = starts.findLast((start) => start < layer);
  const above = starts.find((start) => start > layer);
  return [below, above].filter((start) => start !== undefined);
}
