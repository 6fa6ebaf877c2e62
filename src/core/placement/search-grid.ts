import { limits } from '../limits.js';
import { roomiestFirst } from './order-places.js';
import type { PlacementProblem } from './placement-problem.js';

/**
 * A problem laid out for search. Layers between two allowed starts form one unit; a stage is a range of units. Tables are
 * indexed `[end * width + start]`, in units: the search walks back from an end, over neighbouring numbers.
 */
export interface SearchGrid {
  readonly problem: PlacementProblem;
  readonly units: number;
  /** `units + 1`. */
  readonly width: number;
  /** First layer of each unit, and `numLayers` at the end. */
  readonly layerAt: Int32Array;
  /** Bytes without a node's overhead. */
  readonly bytes: Float64Array;
  /** NaN where the length is refused: no comparison with it holds, so such a stage is neither chosen nor ends a walk. */
  readonly bytesRead: Float64Array;
  /** Stages at least, the highest pinned one included. */
  readonly minStages: number;
  /** Stages at most, given that each needs a node and a unit. */
  readonly maxStages: number;
  /** Every place by memory for a stage, the roomiest first. */
  readonly roomiest: readonly number[];
  /** Place that a stage must take, as an index into `problem.nodes`. */
  readonly pins: ReadonlyMap<number, number>;
}

export function searchGrid(problem: PlacementProblem): SearchGrid {
  const layerAt = Int32Array.from(boundaries(problem));
  const units = layerAt.length - 1;
  const width = units + 1;
  const bytes = new Float64Array(width * width);
  const bytesRead = new Float64Array(width * width);
  const refused = new Set(problem.refusedLengths);
  for (let end = 1; end <= units; end++) {
    for (let start = 0; start < end; start++) {
      const [first, last] = [layerAt[start]!, layerAt[end]!];
      const isRefused = refused.has(last - first) && last - first < problem.numLayers;
      bytes[end * width + start] = problem.bytes(first, last);
      bytesRead[end * width + start] = isRefused ? Number.NaN : problem.bytesRead(first, last);
    }
  }
  return {
    problem,
    units,
    width,
    layerAt,
    bytes,
    bytesRead,
    minStages: [...problem.pins.keys()].reduce(
      (least, stage) => Math.max(least, stage + 1),
      Math.max(1, problem.minStages),
    ),
    maxStages: Math.min(problem.maxStages, problem.nodes.length, units),
    roomiest: roomiestFirst(problem),
    pins: placesOfPins(problem),
  };
}

/** 0, the allowed starts, `numLayers`. Of too many starts some are left out, evenly. */
function boundaries({ numLayers, starts, minStages }: PlacementProblem): number[] {
  const all = starts ?? Array.from({ length: numLayers - 1 }, (_, at) => at + 1);
  const most = Math.max(limits.placementUnits, minStages) - 1;
  const kept =
    all.length <= most
      ? all
      : Array.from({ length: most }, (_, at) => all[Math.floor(((at + 1) * all.length) / (most + 1))]!);
  return [0, ...kept, numLayers];
}

function placesOfPins({ nodes, pins }: PlacementProblem): Map<number, number> {
  const places = new Map<number, number>();
  const taken = new Set<number>();
  for (const [stage, nodeId] of [...pins].sort(([a], [b]) => a - b)) {
    const place = nodes.findIndex((node, at) => node.nodeId === nodeId && !taken.has(at));
    places.set(stage, place);
    taken.add(place);
  }
  return places;
}
